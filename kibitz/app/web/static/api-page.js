// Shows the OpenAPI description of the server as a page.

import { make } from "./chooser.js";

const schema = await (await fetch("/api/openapi.json")).json();
const named = (part) => part?.$ref?.split("/").pop() || (part?.items ? `list of ${named(part.items)}` : part?.type) || "JSON";
const place = document.getElementById("operations");

for (const [path, operations] of Object.entries(schema.paths)) {
  for (const [method, operation] of Object.entries(operations)) {
    const body = operation.requestBody?.content["application/json"].schema;
    const answers = Object.entries(operation.responses).map(([status, answer]) => {
      const content = answer.content?.["application/json"]?.schema;
      return make("li", {}, `${status}: ${content ? named(content) : ""} ${answer.description}`);
    });
    place.append(make("section", { class: "panel" },
      make("h2", {}, `${method.toUpperCase()} ${path}`), make("p", {}, operation.description || ""),
      ...(body ? [make("p", {}, `body: ${named(body)}`)] : []), make("ul", {}, ...answers)));
  }
}
for (const [name, model] of Object.entries(schema.components.schemas)) {
  const fields = Object.entries(model.properties || {}).map(([field, about]) =>
    make("li", {}, make("code", {}, field), `: ${named(about)} ${about.description || ""}`));
  place.append(make("section", { class: "panel" }, make("h2", {}, name), make("p", {}, model.description || ""), make("ul", {}, ...fields)));
}
