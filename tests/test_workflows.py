"""The workflows: pinned actions, least permissions, and commands that work here; they are run."""

from __future__ import annotations

import os
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.bench import ROOT, scripts

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def jobs(path: Path) -> dict[str, dict[str, Any]]:
    """The jobs of a workflow."""
    return dict(yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"])


def steps(path: Path) -> list[dict[str, Any]]:
    """The steps of all jobs of a workflow."""
    return [step for job in jobs(path).values() for step in job["steps"]]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda p: p.stem)
def test_actions_are_pinned_by_commit(path: Path) -> None:
    used = [step["uses"] for step in steps(path) if "uses" in step]
    assert used
    assert [use for use in used if not re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", use)] == []


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda p: p.stem)
def test_a_workflow_may_read_and_a_job_that_needs_more_says_so(path: Path) -> None:
    assert yaml.safe_load(path.read_text(encoding="utf-8"))["permissions"] == {"contents": "read"}
    wider = {name: job["permissions"] for name, job in jobs(path).items() if "permissions" in job}
    if path.stem == "leaderboard":
        assert wider == {"full": {"contents": "write"}, "deploy": {"pages": "write", "id-token": "write"}}
    elif path.stem == "release":
        assert wider == {"publish": {"id-token": "write"}}
    else:
        assert wider == {}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda p: p.stem)
def test_a_workflow_calls_only_scripts_of_this_repository(path: Path) -> None:
    for step in steps(path):
        if "run" in step:
            match = re.fullmatch(r"bash (\.ci/\w+)( \w+)*", step["run"])
            assert match, step["run"]
            assert os.access(ROOT / match[1], os.X_OK)


def test_a_change_is_linted_tested_and_its_pages_checked() -> None:
    for name in ("lint", "tests", "pages", "machines"):
        text = (ROOT / ".github" / "workflows" / f"{name}.yml").read_text(encoding="utf-8")
        triggers = yaml.load(text, yaml.BaseLoader)["on"]  # `on` is a truth value to other loaders
        assert set(triggers) == {"pull_request", "push"}


def test_the_tests_run_on_every_python_that_the_metadata_name() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = [word.rpartition(" ")[2] for word in project["classifiers"] if re.search(r":: 3\.\d+$", word)]
    matrix = jobs(ROOT / ".github" / "workflows" / "tests.yml")["tests"]["strategy"]["matrix"]
    assert matrix == {"python": named}
    assert project["requires-python"] == f">={named[0]}"


def test_the_tests_job_runs_readmes_test_command() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    command = re.search(r"<!-- test command -->\s*```\n.* && (.*)\n```", readme)
    assert command
    assert f"  fast)\n    {command[1]}\n" in (ROOT / ".ci" / "tests").read_text(encoding="utf-8")


def test_the_hooks_of_a_commit_are_commands_that_the_lint_job_runs() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"]
    assert [repo["repo"] for repo in hooks] == ["local"]
    script = (ROOT / ".ci" / "lint").read_text(encoding="utf-8").splitlines()
    entries = [hook["entry"].replace(" --force-exclude", "") for repo in hooks for hook in repo["hooks"]]
    assert [entry for entry in entries if not any(line.startswith(entry) for line in script)] == []
    assert "bash .ci/lint" in (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()


@pytest.mark.weekly
def test_the_leaderboard_workflows_commands_work(tmp_path: Path) -> None:
    """Every command of the pages' checks and of the weekly run, in order, in a clone, with small suites."""
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", str(ROOT), str(clone)], check=True)
    remote = tmp_path / "remote.git"
    subprocess.run(["git", "init", "-q", "--bare", str(remote)], check=True)
    subprocess.run(["git", "remote", "set-url", "origin", str(remote)], cwd=clone, check=True)
    # Small suites replace the full ones, since only the commands are tested.
    for suite in (clone / "suites").glob("*.toml"):
        if suite.stem != "quickstart":
            suite.unlink()
    for page in (clone / "leaderboard").glob("*"):
        subprocess.run(["git", "rm", "-rq", "--", str(page)], cwd=clone, check=True)
    environment = {**os.environ, "RUN_OPTIONS": "--seeds 1 --only dataset=Pima", "BUDGETBENCH_OFFLINE": "1"}
    environment["PYTHONPATH"] = str(clone)
    environment["PATH"] = os.pathsep.join([str(scripts()), os.environ.get("PATH", os.defpath)])
    done = []
    commands = [
        step["run"]
        for name in ("pages.yml", "leaderboard.yml")
        for step in steps(ROOT / ".github" / "workflows" / name)
        if "run" in step
    ]
    for command in dict.fromkeys(commands):
        if command.endswith(" install"):
            continue
        ran = subprocess.run(
            ["bash", "-c", command], cwd=clone, env=environment, capture_output=True, text=True, timeout=600
        )
        assert ran.returncode == 0, f"{command}\n{ran.stdout}\n{ran.stderr}"
        done.append(command.split(maxsplit=1)[1])
    assert done == [
        ".ci/leaderboard quick",
        ".ci/leaderboard check",
        ".ci/leaderboard full",
        ".ci/publish",
        ".ci/leaderboard site _site",
    ]
    pushed = subprocess.run(
        ["git", "--git-dir", str(remote), "log", "--all", "--format=%s"], capture_output=True, text=True, check=True
    )
    assert "Leaderboard: what the scheduled run measured" in pushed.stdout
    page = (clone / "_site" / "suites" / "quickstart" / "index.html").read_text(encoding="utf-8")
    assert page.lstrip().lower().startswith("<!doctype html>")
