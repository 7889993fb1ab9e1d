# `node scripts/docs.ts` writes this file from test_files_async.py.
"""Files, folders, the terminal and tunnels against the real daemon of guests."""

from __future__ import annotations

import os
import socket
import threading
from pathlib import Path
from typing import Any

import pytest

import lodge_agents


def test_files(server: Any, agent_id: str) -> None:
    with server.Lodge() as lodge:
        files = lodge.files
        made = files.write(agent_id, "notes/a b#?.md", "grüße\n", if_none_match="*")
        assert made.path == "notes/a b#?.md"
        with pytest.raises(lodge_agents.ConflictError) as there:
            files.write(agent_id, "notes/a b#?.md", "x", if_none_match="*")
        assert there.value.code == "precondition_failed"
        content = files.read(agent_id, "notes/a b#?.md")
        assert (content.size, content.etag) == (8, made.etag)
        assert content.text() == "grüße\n"
        assert (files.read(agent_id, "notes/a b#?.md", range="bytes=0-1")).bytes() == b"gr"
        files.make_folder(agent_id, "notes/deep/er")
        files.write(agent_id, "notes/deep/data.json", '{"a": 1}')
        assert (files.read(agent_id, "notes/deep/data.json")).json() == {"a": 1}
        assert [each.name for each in files.list(agent_id, "notes", limit=1)] == ["a b#?.md", "deep"]
        walked = [each.path for each in files.walk(agent_id, "notes")]
        assert walked == ["notes/a b#?.md", "notes/deep", "notes/deep/data.json", "notes/deep/er"]
        assert (files.delete(agent_id, "notes", recursive=True)).deleted
        with pytest.raises(lodge_agents.NotFoundError):
            files.read_text(agent_id, "notes/a b#?.md")
        for odd in ("../etc/passwd", "a/./b", "a//b"):
            with pytest.raises(ValueError):
                files.read_text(agent_id, odd)


def test_an_agent_as_a_file(server: Any, agent_id: str, tmp_path: Path) -> None:
    local = tmp_path / "agent.lodge"
    with server.Lodge() as lodge:
        lodge.files.write(agent_id, "carried.txt", "plum")
        with lodge.agents.export_file(agent_id, passphrase="plum tart with cream") as content:
            with open(local, "wb") as file:
                for chunk in content.stream():
                    file.write(chunk)
        told: list[Any] = []
        with open(local, "rb") as file:
            made = lodge.agents.import_file(
                file, name="Carried", passphrase="plum tart with cream", on_progress=lambda *done: told.append(done)
            )
        assert (made.name, made.status) == ("Carried", "running")
        assert {each.kind for each in made.import_.missing} <= {"file"}
        assert told[-1] == (local.stat().st_size, local.stat().st_size)
        assert lodge.files.read_text(made.id, "carried.txt") == "plum"
        with pytest.raises(lodge_agents.BadRequestError):
            lodge.agents.import_file(local.read_bytes(), passphrase="another passphrase")
        lodge.agents.delete(made.id)


def test_folders(server: Any, agent_id: str, tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    (source / "deep" / "empty").mkdir(parents=True)
    (source / "one.txt").write_text("one")
    (source / "deep" / "two.bin").write_bytes(bytes(range(256)) * 4000)
    (source / "deep" / "skip.pyc").write_text("x")
    os.symlink("/etc/passwd", source / "link")
    told: list[Any] = []
    with server.Lodge() as lodge:
        sent = lodge.files.upload_folder(
            agent_id, source, "folder", ignore=["*.pyc"], on_progress=lambda done: told.append((done.path, done.bytes))
        )
        assert (sent.files, sent.bytes, sent.skipped) == (2, 1_024_003, ["link"])
        assert told[-1] == ("deep/two.bin", 1_024_003)
        lodge.exec.run(agent_id, command="cd folder && ln -s /etc out && mkfifo pipe && touch 'back\\slash'")
        got = lodge.files.download_folder(agent_id, "folder", target)
        assert (got.files, sorted(got.skipped)) == (2, ["back\\slash", "out", "pipe"])
        assert (target / "deep" / "two.bin").read_bytes() == (source / "deep" / "two.bin").read_bytes()
        assert (target / "deep" / "empty").is_dir()
        # A link on this machine is not followed out of the folder.
        outside = tmp_path / "outside"
        outside.mkdir()
        (target / "deep" / "two.bin").unlink()
        (target / "deep" / "empty").rmdir()
        (target / "deep").rmdir()
        os.symlink(outside, target / "deep")
        again = lodge.files.download_folder(agent_id, "folder", target)
        assert list(outside.iterdir()) == [] and again.files == 1


def test_a_terminal(server: Any, agent_id: str) -> None:
    with server.Lodge() as lodge:
        with lodge.terminal.open(agent_id, cols=90, rows=30) as terminal:
            terminal.resize(100, 40)
            # The size comes beside what is typed.
            terminal.write("while [ \"$(stty size)\" != '40 100' ]; do sleep 0.1; done; echo it is $((40 + 2)); exit 7\n")
            shown = b"".join([chunk for chunk in terminal])
        assert b"it is 42" in shown, shown
        assert terminal.exit_code == 7
        with pytest.raises(lodge_agents.ConnectionError):
            terminal.write("x")
        with pytest.raises(lodge_agents.NotFoundError) as missing:
            lodge.terminal.open("a" * 12)
        assert missing.value.code == "agent_not_found"


def test_a_tunnel(server: Any, agent_id: str) -> None:
    sent = os.urandom(600_000)

    def serve() -> None:
        with listener.accept()[0] as peer:
            got = b"".join(iter(lambda: peer.recv(65536), b""))
            peer.sendall(got[::-1])

    with socket.create_server(("0.0.0.0", 0)) as listener:
        port = listener.getsockname()[1]
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        with server.Lodge() as lodge:
            with lodge.ports.tunnel(agent_id, port) as tunnel:
                tunnel.write(sent)
                tunnel.end()
                assert b"".join([chunk for chunk in tunnel]) == sent[::-1]
            with pytest.raises(lodge_agents.ConnectionError):
                tunnel.write(b"x")
            with pytest.raises(lodge_agents.NotFoundError):
                lodge.ports.tunnel("a" * 12, port)
        thread.join(10)
        assert not thread.is_alive()
