# README's round by Python.
import os
from pathlib import Path

from lodge_agents import Lodge

lodge = Lodge()
agent = lodge.agents.create(
    name=os.environ["NAME"],
    model=os.environ["MODEL"],
    size="small",
    llm_keys=[{"provider": os.environ["PROVIDER"], "api_key": os.environ["PROVIDER_KEY"]}],
    lifecycle={"idle_timeout_seconds": 0},
)
print([model.name for model in lodge.models.list().data if model.id == agent.id])
print(lodge.chat.ask(agent.id, os.environ["QUESTION"], user="me"))
print(lodge.agents.stop(agent.id).status)
print(lodge.agents.start(agent.id).status)
print(len(lodge.agents.logs(agent.id).data))
lodge.files.write(agent.id, "notes.md", Path("notes.md").read_bytes())
for command in ["wc -l notes.md", f"cat {os.environ['WRITTEN']}"]:
    print(lodge.exec.run(agent.id, command=command).stdout)
print(lodge.chat.ask(agent.id, os.environ["AGAIN"], user="me"))
print(lodge.links.create(agent.id).url)
lodge.agents.delete(agent.id)
