"""The resources of the API, as attributes of a client.

`node scripts/docs.ts` writes this file from docs/reference/openapi.json.
"""

from __future__ import annotations

from . import operations as made
from .agents import AsyncAgents
from .channels import AsyncChannels
from .chat import AsyncChat
from .hooks import AsyncHooks, AsyncWebhooks
from .ports import AsyncPorts
from .skills import AsyncSkills
from .snapshots import AsyncSnapshots
from .terminal import AsyncTerminals
from .transfers import AsyncTransfers
from .uploads import AsyncUploads
from .usage import AsyncUsage
from .client import AsyncTransport


class AsyncResources:
    def __init__(self, client: AsyncTransport) -> None:
        self.account = made.AsyncAccountOperations(client)
        self.agent_skills = made.AsyncAgentSkillsOperations(client)
        self.agents = AsyncAgents(client)
        self.audit_events = made.AsyncAuditEventsOperations(client)
        self.browsers = made.AsyncBrowsersOperations(client)
        self.channels = AsyncChannels(client)
        self.chat = AsyncChat(client)
        self.confirmations = made.AsyncConfirmationsOperations(client)
        self.connections = made.AsyncConnectionsOperations(client)
        self.events = made.AsyncEventsOperations(client)
        self.exec = made.AsyncExecOperations(client)
        self.files = AsyncTransfers(client)
        self.hooks = AsyncHooks(client)
        self.keys = made.AsyncKeysOperations(client)
        self.links = made.AsyncLinksOperations(client)
        self.llm_calls = made.AsyncLlmCallsOperations(client)
        self.members = made.AsyncMembersOperations(client)
        self.messages = made.AsyncMessagesOperations(client)
        self.models = made.AsyncModelsOperations(client)
        self.oauth = made.AsyncOauthOperations(client)
        self.people = made.AsyncPeopleOperations(client)
        self.ports = AsyncPorts(client)
        self.responses = made.AsyncResponsesOperations(client)
        self.schedules = made.AsyncSchedulesOperations(client)
        self.secrets = made.AsyncSecretsOperations(client)
        self.service = made.AsyncServiceOperations(client)
        self.skills = AsyncSkills(client)
        self.snapshots = AsyncSnapshots(client)
        self.terminal = AsyncTerminals(client)
        self.uploads = AsyncUploads(client)
        self.usage = AsyncUsage(client)
        self.webhooks = AsyncWebhooks(client)
