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
lodge.files.write(agent.id, "notes.md", Path("notes.md").read_bytes())
print(lodge.exec.run(agent.id, command="wc -l notes.md").stdout)
print(lodge.agents.stop(agent.id).status)
print(lodge.agents.start(agent.id).status)
for path in ["notes.md", os.environ["WRITTEN"]]:
    print(lodge.files.read_text(agent.id, path))
print(lodge.chat.ask(agent.id, os.environ["AGAIN"], user="me"))
print(len(lodge.agents.logs(agent.id).data))
print(len(lodge.usage.agent(agent.id).data))
print(lodge.links.create(agent.id).url)
lodge.agents.delete(agent.id)
