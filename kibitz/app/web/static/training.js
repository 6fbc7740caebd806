// The dialog that starts a short training.

import { ask } from "./api.js";
import { make } from "./chooser.js";
import { number } from "./curves.js";
import { word } from "./words.js";
import { LAB_WORDS } from "./words-lab.js";

const known = (name, otherwise) => (LAB_WORDS[name] ? word(name) : otherwise);

/** Ask what to train; `started` gets the name of the run. */
export async function setUpTraining(dialog, gameTitle, started) {
  const find = (what) => dialog.querySelector(what);
  find(".error").textContent = "";
  find("#training-name").value = "";
  find("#training-start").disabled = true; // until it is known what can be trained
  dialog.showModal();
  let learners = [];
  try {
    learners = await ask("lab/learners");
  } catch (error) {
    find(".error").textContent = error.message;
  }
  const learner = () => learners.find((each) => each.name === find("input[name=learner]:checked").value);
  const game = () => learner().games.find((each) => each.game === find("#training-game").value);

  function showGames() {
    find("#training-game").replaceChildren(...learner().games.map((each) => make("option", { value: each.game }, gameTitle(each.game))));
    showOptions();
  }

  function showOptions() {
    const inputs = learner().options.map((option) => {
      const about = known(`option-${option.name}`, option.about), id = `training-${option.name}-about`;
      const input = make("input", {
        type: "number", name: option.name, min: option.name === "seed" ? 0 : 1, max: option.most, step: 1, required: "",
        value: game().defaults[option.name], "aria-describedby": id,
      });
      return make("label", {}, make("strong", {}, known(`lab-label-${option.name}`, option.name)), input,
        make("small", { id }, word("lab-at-most", { about, most: number(option.most) })));
    });
    find("#training-iterations").replaceChildren(inputs.shift());
    find("#training-options").replaceChildren(...inputs);
  }

  find("#training-learners").replaceChildren(...learners.map((each, i) => {
    const input = make("input", { type: "radio", name: "learner", value: each.name });
    input.checked = i === 0;
    input.addEventListener("change", showGames);
    return make("label", {}, input, make("span", {}, make("strong", {}, each.name), make("small", {}, known(`learner-${each.name}`, each.about))));
  }));
  if (learners.length) {
    showGames();
    find("input[name=learner]").focus();
  }
  find("#training-game").onchange = showOptions;
  find("#training-cancel").onclick = () => dialog.close();
  find("form").onsubmit = async (event) => {
    event.preventDefault();
    if (!learners.length) return;
    const options = {};
    for (const input of dialog.querySelectorAll("input[type=number]")) {
      if (Number(input.value) !== game().defaults[input.name]) options[input.name] = Number(input.value);
    }
    find("#training-start").disabled = true;
    try {
      const { run } = await ask("lab/trainings", {
        learner: learner().name, game: game().game, name: find("#training-name").value.trim(), options,
      });
      dialog.close();
      started(run);
    } catch (error) {
      find(".error").textContent = error.message;
    } finally {
      find("#training-start").disabled = false;
    }
  };
  find("#training-start").disabled = !learners.length;
}
