"""The resources of the API, as attributes of a client.

`node scripts/docs.ts` writes this file from docs/reference/openapi.json.
"""

from __future__ import annotations

from . import operations as made
from .agents import Agents
from .channels import Channels
from .chat import Chat
from .hooks import Hooks, Webhooks
from .ports import Ports
from .skills import Skills
from .snapshots import Snapshots
from .terminal import Terminals
from .transfers import Transfers
from .uploads import Uploads
from .usage import Usage
from .client import Transport


class Resources:
    def __init__(self, client: Transport) -> None:
        self.account = made.AccountOperations(client)
        self.agent_skills = made.AgentSkillsOperations(client)
        self.agents = Agents(client)
        self.audit_events = made.AuditEventsOperations(client)
        self.browsers = made.BrowsersOperations(client)
        self.channels = Channels(client)
        self.chat = Chat(client)
        self.confirmations = made.ConfirmationsOperations(client)
        self.connections = made.ConnectionsOperations(client)
        self.events = made.EventsOperations(client)
        self.exec = made.ExecOperations(client)
        self.files = Transfers(client)
        self.hooks = Hooks(client)
        self.keys = made.KeysOperations(client)
        self.links = made.LinksOperations(client)
        self.llm_calls = made.LlmCallsOperations(client)
        self.members = made.MembersOperations(client)
        self.messages = made.MessagesOperations(client)
        self.models = made.ModelsOperations(client)
        self.oauth = made.OauthOperations(client)
        self.people = made.PeopleOperations(client)
        self.ports = Ports(client)
        self.responses = made.ResponsesOperations(client)
        self.schedules = made.SchedulesOperations(client)
        self.secrets = made.SecretsOperations(client)
        self.service = made.ServiceOperations(client)
        self.skills = Skills(client)
        self.snapshots = Snapshots(client)
        self.terminal = Terminals(client)
        self.uploads = Uploads(client)
        self.usage = Usage(client)
        self.webhooks = Webhooks(client)
