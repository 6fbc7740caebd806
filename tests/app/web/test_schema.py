"""Requests made up from the description of the interface: none of them breaks the server."""

import warnings

import pytest

pytest.importorskip("schemathesis")

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import schemathesis
    from hypothesis import HealthCheck, Phase, given, settings
    from hypothesis import strategies as st

from .conftest import opened

REQUESTS = 150


def test_no_request_breaks_the_server(client, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    key, _ = opened(client, "tic_tac_toe", ["human", "human"])
    schema = schemathesis.openapi.from_dict(client.get("/api/openapi.json").json())
    operations = [each.ok() for each in schema.get_all_operations()]
    assert len(operations) >= 20

    @given(st.data())
    @settings(
        max_examples=REQUESTS,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )
    def ask(data):
        operation = data.draw(st.sampled_from(operations))
        case = data.draw(operation.as_strategy())
        if case.path_parameters and data.draw(st.booleans()):
            case.path_parameters["key"] = key
        arguments = case.as_transport_kwargs(base_url="http://localhost")
        sent = {name: arguments[name] for name in ("method", "url", "params", "json", "headers") if name in arguments}
        statuses.add(client.request(**sent).status_code)

    statuses = set()
    ask()
    assert max(statuses) < 500
    assert {200, 404} <= statuses
    assert client.get(f"/api/tables/{key}").status_code == 200
