"""What the API answers. A field or a word that is newer than this file is kept.

`node scripts/docs.ts` writes this file from docs/reference/openapi.json.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from ._openai import ChatChoice, ChatChunkChoice, ResponseOutput
from ._reply import Reply

__all__ = [
    "Account",
    "AccountLink",
    "AccountOptions",
    "AccountSpend",
    "AccountSpendDaily",
    "Agent",
    "AgentChannel",
    "AgentChannelStatus",
    "AgentFile",
    "AgentLlmKey",
    "AgentMember",
    "AgentResponse",
    "AgentResponseUsage",
    "AgentRuntime",
    "AgentSkill",
    "AgentSkillMissing",
    "AgentSkillRemoved",
    "AgentStatusReason",
    "AgentTransition",
    "ApiKey",
    "ApiKeyList",
    "Approval",
    "ApprovalSender",
    "AuditEvent",
    "AuditEventActor",
    "AuditEventTarget",
    "AuthorizationAnswer",
    "AuthorizationRequest",
    "Browser",
    "BrowserTab",
    "Channel",
    "ChannelAccess",
    "ChannelAccessGroups",
    "ChannelCredentialsValue",
    "ChannelDelivery",
    "ChannelIdentity",
    "ChannelMessage",
    "ChannelMessageConversation",
    "ChannelReason",
    "ChannelStatusReason",
    "ChannelStatusReasonCode",
    "ChannelTest",
    "ChatCompletion",
    "ChatCompletionChunk",
    "ChatCompletionUsage",
    "Confirmation",
    "ConfirmationRules",
    "ConfirmationRulesDeliverItem",
    "ConfirmationRulesRule",
    "Connection",
    "ConnectionAllow",
    "ConnectionAuth",
    "ConnectionAuthClientSecret",
    "ConnectionOAuth",
    "ConnectionOAuthSession",
    "ConnectionSecretsValue",
    "CreatedApiKey",
    "CreatedHook",
    "CreatedHookDeliver",
    "CreatedHookSignature",
    "CreatedHookSignatureSecret",
    "CreatedInvitation",
    "DeletedAgent",
    "DeletedChannel",
    "DeletedConnection",
    "DeletedHook",
    "DeletedMember",
    "DeletedPort",
    "DeletedSchedule",
    "DeletedSnapshot",
    "DeviceAuthorization",
    "DeviceRequest",
    "Disk",
    "Egress",
    "ErrorBody",
    "ErrorBodyError",
    "ErrorBodyErrorCode",
    "ErrorBodyErrorType",
    "ExecResult",
    "FileChange",
    "FileDeleted",
    "Fingerprint",
    "Fork",
    "ForkedFrom",
    "Grant",
    "GrantList",
    "Health",
    "Hook",
    "HookMessage",
    "HookReceipt",
    "Host",
    "HostAgents",
    "HostAgentsByStatu",
    "HostAgentsTopItem",
    "HostBackups",
    "HostBackupsLast",
    "HostDisk",
    "HostFinding",
    "HostMemory",
    "HostTemplate",
    "HostVersions",
    "HostVersionsRuntime",
    "ImportedAgent",
    "ImportedAgentImport",
    "ImportedAgentImportMissingItem",
    "ImportedAgentImportMissingItemKind",
    "Invitation",
    "InvitationList",
    "Lifecycle",
    "Limits",
    "LimitsQuotas",
    "LimitsQuotasAgents",
    "LimitsRates",
    "LimitsRatesCreates",
    "LimitsRatesReads",
    "LimitsSizes",
    "LimitsSnapshots",
    "LimitsSpend",
    "Link",
    "LlmCall",
    "LlmCallDetail",
    "LlmCallDetailContent",
    "LlmKeyCheck",
    "LlmKeyChecks",
    "LodgeEvent",
    "LogEntry",
    "Machine",
    "Model",
    "ModelList",
    "OAuthClient",
    "OAuthSession",
    "OfferedModel",
    "OfferedModelPrices",
    "Packages",
    "Pairing",
    "Person",
    "PersonList",
    "PersonalAccount",
    "Port",
    "Provider",
    "RecoveryCodes",
    "Schedule",
    "ScheduleDeliver",
    "ScheduleLastRun",
    "ScheduleRun",
    "SessionBody",
    "SessionBodySession",
    "SessionList",
    "SessionRecord",
    "Size",
    "Skill",
    "SkillDeleted",
    "SkillFinding",
    "SkillFindingRule",
    "SkillSource",
    "SkillVersion",
    "SkillVersionFile",
    "Snapshot",
    "SnapshotDiff",
    "SnapshotFile",
    "SnapshotPlan",
    "SnapshotRuntime",
    "SpendLimit",
    "Token",
    "ToolStep",
    "TotpBegun",
    "Upload",
    "UploadDeleted",
    "Usage",
    "UsageBucket",
    "UsageBucketCompute",
    "UsageBucketCost",
    "UsageBucketLlm",
    "UsageBucketNetwork",
    "UsageTotals",
    "Webhook",
    "WebhookDeleted",
    "WebhookDelivery",
    "WebhookWithSecret",
]


class Account(Reply):
    object: Literal["account"]
    id: str
    name: str
    record_llm_calls: bool
    """Whether what is said in model calls of its agents is kept for some days, for every key with the scope
    `usage:read`. False by default.
    """
    created_at: datetime
    email: str | None = None
    """For its person signed in; an API key is not told."""
    role: Literal["owner", "member", "viewer"] | str | None = None
    """The same."""
    totp_enabled: bool | None = None
    """The same."""


class AccountLink(Reply):
    kind: Literal["owner", "invite", "reset"] | str
    email: str | None
    expires_at: datetime


class AccountOptions(Reply):
    registration_open: bool
    api_base_url: str


class AccountSpendDaily(Reply):
    """Model calls of all agents of the account, this day (UTC)."""

    limit_usd: str | None
    """US dollars; null: no limit."""
    spent_usd: str
    """Calls that have ended and whose model has a known price."""
    resets_at: datetime


class SpendLimit(Reply):
    daily_usd: str | None = None
    """Most in a day (UTC), in US dollars; null: no bound."""
    monthly_usd: str | None = None
    """Most in a month (UTC), in US dollars; null: no bound."""
    action: Literal["block", "pause"] | str
    """`block`: once it is reached, model calls are refused until the window ends. `pause`: the agent is put to
    sleep as well, and no message wakes it before.
    """


class AccountSpend(Reply):
    daily: AccountSpendDaily
    """Model calls of all agents of the account, this day (UTC)."""
    monthly: AccountSpendDaily
    """Model calls of all agents of the account, this month (UTC)."""
    action: Literal["block", "pause"] | str | None
    """`block`: once it is reached, model calls are refused until the window ends. `pause`: the agent is put to
    sleep as well, and no message wakes it before.
    """
    spend_limit: SpendLimit | None


class AgentStatusReason(Reply):
    """Why the agent is in its status; always set in `error`."""

    code: str
    message: str
    at: datetime


class AgentTransition(Reply):
    """The change of the machine that is under way; null when none is. A snapshot changes nothing; going back to
    one counts as a restart.
    """

    kind: Literal["start", "resume", "pause", "stop", "restart", "upgrade"] | str
    started_at: datetime


class AgentRuntime(Reply):
    """What runs in the VM, in the version that it has there; null when this deployment does not offer it."""

    name: str
    version: str


class Machine(Reply):
    """The machine as it is. Where it is not what `size` says, the new size is taken with the next start."""

    vcpus: int
    memory_mb: int
    disk_gb: int


class Disk(Reply):
    limit_gb: float
    """Size of the disk as the machine sees it."""
    used_gb: float | None
    """What the agent has written to it, as looked at in the last seconds; null while that is not known here."""


class AgentLlmKey(Reply):
    provider: str
    last4: str
    """The last four characters of the key."""
    fingerprint: str | None
    """Compare it with that of a secret at hand, from `POST /v1/fingerprints`. A change of the master key changes
    it; null: the secret cannot be opened.
    """
    created_at: datetime


AgentChannelStatus = Literal[
    "not_configured",
    "pending_pairing",
    "connecting",
    "connected",
    "disconnected",
    "error",
    "disabled",
]


class AgentChannel(Reply):
    channel: Literal["slack", "discord", "telegram", "whatsapp", "gmail"] | str
    status: AgentChannelStatus | str


class Lifecycle(Reply):
    idle_timeout_seconds: int
    """Idle for this long, a running agent is paused; 0 is never."""
    stop_after_seconds: int
    """Paused for this long, an agent is stopped."""
    keep_awake: Literal["auto", "always"] | str
    """`auto`: an idle agent sleeps. `always`: it does not."""
    auto_resume: bool
    """A request wakes a paused agent."""
    auto_start: bool
    """A request starts a stopped agent."""
    wake_on_message: bool
    """A message on a channel wakes the agent."""


class Egress(Reply):
    """What the agent's machine may reach."""

    mode: Literal["public", "allowlist", "none"] | str
    """`public`: every public address. `allowlist`: what `allow` names and nothing else. `none`: nothing. The
    model broker is reached in each.
    """
    allow: list[str]
    """Names, `*.name` for every name below one (of at least two parts), and public IPv4 addresses or blocks of
    /8 to /32. Only with `allowlist`. Kept in lower case and in ASCII, an address as a block.
    """


class Packages(Reply):
    """Packages that root installs in the agent's machine beside the programs of its image."""

    apt: list[str]
    """Packages of Debian's, each with an optional version: `<name>` or `<name>=<version>`."""
    pip: list[str]
    """Python packages: `<name>` or `<name>==<version>`."""
    npm: list[str]
    """npm packages, for their commands: `<name>` or `<name>@<version>`."""


class ConfirmationRulesRule(Reply):
    on: str
    """`connection:<name>`, `tool:<name>` for a tool of Lodge, `messages`, `schedules`, `packages` or `command`."""
    match: str
    """A pattern with `*` for any characters. For an `http` connection it is about the method and the path,
    without the query; for an `mcp` connection about the name of the tool; for a tool of Lodge about its name
    or the JSON of its arguments. A rule that restricts ignores case, and a slash at the end.
    """
    policy: Literal["allow", "ask", "deny"] | str
    """`ask`: the call waits for a yes."""


class ConfirmationRulesDeliverItem(Reply):
    channel: Literal["slack", "discord", "telegram", "whatsapp", "gmail", "email"] | str
    conversation: str
    """The id of a conversation that wrote to the agent there."""


class ConfirmationRules(Reply):
    """Rules about the calls of the agent that need a yes. They are enforced on the host."""

    rules: list[ConfirmationRulesRule]
    """The first one that fits counts."""
    default: Literal["allow", "ask", "deny"] | str
    """The policy for every other call by a connection, and for tools of Lodge that change something."""
    deliver: list[ConfirmationRulesDeliverItem]
    """Conversations in which the owner is asked."""
    deciders: list[str]
    """Ids of senders on channels who may decide there, each alone or behind the name of its channel. Nobody else
    can.
    """
    expires: str
    """Time until an undecided confirmation is closed, of 5 minutes to 30 days."""


class SnapshotPlan(Reply):
    """When snapshots of the agent are made by themselves, and how long those are kept."""

    every_turns: int | None
    """One after so many turns, once the agent is quiet; null: turns do not count."""
    every: str | None
    """One when this time has passed since the last snapshot, once the agent is quiet and had a turn: minutes,
    hours or days, from `5m` to `366d`; null: time does not count.
    """
    keep: int
    """Most automatic ones; the oldest go first."""
    keep_days: int
    """Days after which an automatic one is deleted."""


class ForkedFrom(Reply):
    """The snapshot that it was made from, the agent that this is of, and when it was saved. Either may be gone
    by now.
    """

    agent_id: str
    snapshot_id: str
    at: datetime


class Agent(Reply):
    object: Literal["agent"]
    id: str
    name: str
    description: str | None
    instructions: str | None
    """Who the agent is and how it works."""
    settings_pending: bool
    """Whether the machine has yet to take over instructions, members, dashboard, browser, egress, variables,
    skills or packages as they are now: within seconds while it runs, packages within minutes, else at its
    next start.
    """
    status: Literal["provisioning", "running", "paused", "stopped", "error"] | str
    status_reason: AgentStatusReason | None
    """Why the agent is in its status; always set in `error`."""
    transition: AgentTransition | None
    """The change of the machine that is under way; null when none is. A snapshot changes nothing; going back to
    one counts as a restart.
    """
    runtime_kind: Literal["runtime_a", "runtime_b"] | str
    runtime: AgentRuntime | None
    """What runs in the VM, in the version that it has there; null when this deployment does not offer it."""
    upgrade_available: bool
    """A newer image is ready than the one the agent was made from: `POST /v1/agents/:id/upgrade` moves it."""
    model: str
    size: Literal["small", "medium", "large", "xlarge"] | str
    """The size asked for."""
    machine: Machine
    disk: Disk
    url: str
    dashboard_url: str | None
    browser: bool
    """Whether it has a browser in its machine."""
    llm_keys: list[AgentLlmKey]
    channels: list[AgentChannel]
    lifecycle: Lifecycle
    spend_limit: SpendLimit | None
    egress: Egress
    env: dict[str, str]
    """Plain variables of the commands, terminals and tools in the agent’s machine, by name."""
    packages: Packages
    packages_error: str | None
    """Why the packages are not installed; null while nothing has failed. It is tried again."""
    confirmations: ConfirmationRules | None
    models: list[str] | None
    """Models that it may call beside its own and its members'; null: any."""
    peers: list[str]
    """Ids of agents that it may ask with its tool `ask_agent`; `*` for all of the account."""
    snapshots: SnapshotPlan
    forked_from: ForkedFrom | None
    labels: dict[str, str]
    """Up to 50 short pairs to select by: `label[team]=support` in a list. Notes of your own are `metadata`."""
    metadata: dict[str, str]
    """Up to 50 pairs of strings: your own notes. What lists are to select by are `labels`."""
    created_at: datetime
    updated_at: datetime
    started_at: datetime | None
    paused_at: datetime | None
    stopped_at: datetime | None
    last_active_at: datetime | None


class AgentMember(Reply):
    object: Literal["member"]
    agent_id: str
    name: str
    """Lower case letters, digits and hyphens, 2 to 32, a letter first."""
    model: str | None
    """Null: the agent's own model."""
    instructions: str | None
    chat_model: str
    """The `model` by which it is spoken to."""
    workspace: str
    """Its folder in the agent's workspace."""
    pending: bool
    """Whether the agent's machine has yet to take over how it is now: within seconds while it runs, else at its
    next start.
    """
    created_at: datetime


class AgentResponseUsage(Reply):
    """Model usage of the turn, all its model calls added up."""

    input_tokens: int
    output_tokens: int
    total_tokens: int


class AgentResponse(Reply):
    id: str
    """For `previous_response_id`."""
    object: Literal["response"]
    created_at: int
    status: str
    model: str
    """The agent's id, or `<agent id>/<member>`."""
    output: list[ResponseOutput]
    usage: AgentResponseUsage
    """Model usage of the turn, all its model calls added up."""


class AgentSkillMissing(Reply):
    """Things that the skill says it needs, and the machine lacks."""

    programs: list[str]
    variables: list[str]


class AgentSkill(Reply):
    object: Literal["agent_skill"]
    agent_id: str
    name: str
    skill: str
    """The id of the library's skill."""
    version: int | Literal["latest"] | str
    """As it was asked for."""
    resolved_version: int
    """The version that it has now."""
    enabled: bool
    members: list[str | None] | None
    """Names of the members that have it, and null for the agent itself. Null instead of a list: the agent and
    all its members, those to come too.
    """
    state: Literal["loaded", "pending", "shadowed", "not_loaded"] | str
    """As the agent's runtime sees it. A read asks a running agent again after 15 seconds; else it is as it was
    last seen. `pending`: the machine has yet to take it, within seconds while it runs, else at its next
    start. `shadowed`: another skill of its name, mostly one in the workspace, is used in its place.
    `not_loaded`: the runtime does not offer it, as it is disabled, or as something is missing. With several
    members it is the worst of what they see.
    """
    missing: AgentSkillMissing
    """Things that the skill says it needs, and the machine lacks."""
    error: str | None
    """Why the machine does not have the wanted skills. It is tried again. Null: it has them, or has yet to."""
    created_at: datetime
    updated_at: datetime


class AgentSkillRemoved(Reply):
    object: Literal["agent_skill.deleted"]
    name: str
    deleted: bool
    pending: bool
    """Whether it is still in the agent's machine."""


class ApiKey(Reply):
    id: str
    name: str
    last4: str
    scopes: list[Literal["agents:read", "agents:write", "agents:delete", "usage:read", "agents:chat", "keys:write"] | str]
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None
    made_by: str | None
    """The id of the key that made it and with which it ends; null: a person did."""


class ApprovalSender(Reply):
    id: str
    name: str
    """The sender's own text."""


class Approval(Reply):
    object: Literal["approval"]
    channel: Literal["slack", "discord", "telegram", "whatsapp", "gmail"] | str
    sender: ApprovalSender
    state: Literal["pending", "approved", "denied"] | str
    code: str | None
    """What the sender was told; null once it is decided."""
    asked_at: datetime
    decided_at: datetime | None


class AuditEventActor(Reply):
    type: Literal["account", "api_key", "operator"] | str
    """`operator`: somebody at the command line of this deployment."""
    id: str | None


class AuditEventTarget(Reply):
    """What it was done to."""

    type: str
    id: str


class AuditEvent(Reply):
    object: Literal["audit_event"]
    id: str
    """Rises with time, within one account."""
    created_at: datetime
    actor: AuditEventActor
    action: str
    target: AuditEventTarget | None
    """What it was done to."""
    address: str | None
    """Where the request came from."""
    request_id: str | None
    """`X-Request-Id` of the request's reply."""
    details: dict[str, Any]
    """Further facts, never a secret."""


class AuthorizationAnswer(Reply):
    redirect_to: str
    """Where the browser goes with the answer."""


class AuthorizationRequest(Reply):
    client_name: str
    """As the program calls itself: one line of visible characters."""
    client_host: str | None
    """Host of the program's own document; null: the program registered itself."""
    redirect_host: str
    """Host, or scheme of a program, that gets the answer."""
    scopes: list[Literal["agents:read", "agents:write", "agents:delete", "usage:read", "agents:chat", "keys:write"] | str]
    """Those that it asks for and that the person may give."""


class BrowserTab(Reply):
    id: str
    title: str
    """The page's own words."""
    url: str


class Browser(Reply):
    object: Literal["browser"]
    enabled: bool
    """The field `browser` of the agent."""
    status: Literal["off", "unavailable", "idle", "starting", "running", "failed", "asleep"] | str
    """`off`: the agent has none. `unavailable`: its machine cannot start one, `message` says why. `idle`: it
    starts when somebody uses it. `asleep`: the agent does not run.
    """
    message: str | None
    """Why it is unavailable or has failed."""
    tabs: list[BrowserTab]
    """At most 50 of its tabs, while it runs."""
    controlled_by: Literal["agent", "owner"] | str | None
    """The one whose mouse and keyboard count; null while it does not run."""
    control_ends_at: datetime | None
    """When the agent has the control again by itself; null while it has it."""


ChannelStatusReasonCode = Literal[
    "invalid_credentials",
    "wrong_kind_of_credential",
    "missing_permission",
    "revoked",
    "logged_out",
    "restricted",
    "used_elsewhere",
    "platform_unreachable",
    "platform_refused",
    "rate_limited",
    "deaf",
    "consent_needed",
    "pairing_needed",
    "not_verified",
    "relay_down",
]


class ChannelStatusReason(Reply):
    code: ChannelStatusReasonCode | str
    message: str
    at: datetime


class ChannelIdentity(Reply):
    """Who the agent is on the platform."""

    id: str
    name: str


class ChannelCredentialsValue(Reply):
    set: bool
    last4: str
    fingerprint: str | None
    """Compare it with that of a secret at hand, from `POST /v1/fingerprints`. A change of the master key changes
    it; null: the secret cannot be opened.
    """
    created_at: datetime


class ChannelAccessGroups(Reply):
    mode: Literal["allowlist", "open", "disabled"] | str
    """`allowlist`: in the groups of `allow`, and to those who may write directly. `open`: in any. `disabled`: in
    none.
    """
    allow: list[str]
    require_mention: bool
    """False: it answers what does not address it, too."""


class ChannelAccess(Reply):
    mode: Literal["pairing", "allowlist", "open", "disabled"] | str
    """Who may write directly. `pairing`: somebody unknown gets a code that you approve. `allowlist`:
    `allow_from` alone. `open`: anybody. `disabled`: nobody.
    """
    allow_from: list[str]
    per_sender_hourly: int
    """Messages of one sender in an hour that are answered; more are refused."""
    groups: ChannelAccessGroups


class ChannelDelivery(Reply):
    """How messages come: the connection is held on the host."""

    held_by: Literal["host"]
    note: str | None
    """What cannot be proved, or is restricted, though it works."""


class Channel(Reply):
    object: Literal["channel"]
    agent_id: str
    channel: Literal["slack", "discord", "telegram", "whatsapp", "gmail"] | str
    enabled: bool
    status: AgentChannelStatus | str
    """`disconnected` is tried again by itself; `error` waits for a person, and `status_reason` says for what."""
    status_reason: ChannelStatusReason | None
    identity: ChannelIdentity | None
    credentials: dict[str, ChannelCredentialsValue]
    """Secrets that are stored, by name, with their last four characters."""
    access: ChannelAccess
    delivery: ChannelDelivery
    """How messages come: the connection is held on the host."""
    last_inbound_at: datetime | None
    last_outbound_at: datetime | None
    created_at: datetime | None
    updated_at: datetime | None


class ChannelMessageConversation(Reply):
    id: str
    kind: Literal["direct", "group"] | str


class ChannelMessage(Reply):
    object: Literal["channel_message"]
    id: str
    agent_id: str
    channel: Literal["slack", "discord", "telegram", "whatsapp", "gmail"] | str
    conversation: ChannelMessageConversation
    sender: ApprovalSender
    state: Literal["received", "answered", "failed", "unknown", "refused"] | str
    """`unknown`: an answer was sent, and whether it arrived cannot be told. `refused`: the access of the channel
    did not let it in.
    """
    reason: str | None
    """Why it is `failed`, `unknown` or `refused`."""
    attempts: int
    """How often a turn was begun for it."""
    received_at: datetime
    answered_at: datetime | None
    text: str | None = None
    """What was written. Only with `content=true`."""
    answer: str | None = None
    """What the agent answered. Only with `content=true`."""


class ChannelReason(Reply):
    code: ChannelStatusReasonCode | str
    message: str


class ChannelTest(Reply):
    object: Literal["channel_test"]
    channel: Literal["slack", "discord", "telegram", "whatsapp", "gmail"] | str
    ok: bool
    """Whether the platform said nothing against it."""
    status: AgentChannelStatus | str
    """The channel's."""
    identity: ChannelIdentity | None
    reason: ChannelReason | None
    message_queued: bool


class ChatCompletionUsage(Reply):
    """Model usage of the turn, all its model calls added up."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class ChatCompletion(Reply):
    id: str
    object: Literal["chat.completion"]
    created: int
    model: str
    """The agent's id, or `<agent id>/<member>`."""
    choices: list[ChatChoice]
    usage: ChatCompletionUsage
    """Model usage of the turn, all its model calls added up."""


class ToolStep(Reply):
    """A tool of the agent begins, or has ended. A turn may end without the end of a step."""

    id: str
    """Names the step within its turn; its end has the same."""
    tool: str
    """The runtime's name of the tool."""
    status: Literal["started", "completed", "failed"] | str
    title: str | None = None
    """The use of the tool, in a short line."""


class ChatCompletionChunk(Reply):
    id: str
    object: Literal["chat.completion.chunk"]
    created: int
    model: str
    """The agent's id, or `<agent id>/<member>`."""
    choices: list[ChatChunkChoice]
    step: ToolStep | None = None


class Confirmation(Reply):
    object: Literal["confirmation"]
    id: str
    agent_id: str
    kind: Literal["call", "question"] | str
    status: Literal["pending", "allowed", "sending", "done", "denied", "expired", "failed", "unknown"] | str
    """`allowed`: the call was not made yet. `sending`: it is under way. `failed`: it was allowed and could not
    be made. `unknown`: it may have been made, and is never repeated.
    """
    on: str
    """The words of rules for it."""
    action: str
    """Lodge's own words."""
    quoted: str | None
    """The agent's words: at most 2000 characters. Signs that hide or reorder text are written as \\u…."""
    cut: bool
    """Whether `quoted` is only the beginning."""
    options: list[str]
    """The options of a question."""
    digest: str
    """SHA-256 of the whole call as it is stored, in hex. It is sent as it is stored."""
    conversation: str | None
    """The conversation of the turn; null outside of one."""
    decision: Literal["allow", "deny"] | str | None
    reason: str | None
    """The owner's words about a decision."""
    answer: str | None
    """The owner's answer to a question."""
    remember: Literal["none", "conversation", "rule"] | str
    """`conversation`: the same method and path, or tool, has the same decision in this conversation. `rule`: a
    rule of the agent says so from now on.
    """
    requested_at: datetime
    expires_at: datetime
    decided_at: datetime | None
    ended_at: datetime | None


class ConnectionSecretsValue(Reply):
    set: bool
    last4: str
    fingerprint: str | None
    """Compare it with that of a secret at hand, from `POST /v1/fingerprints`. A change of the master key changes
    it; null: the secret cannot be opened.
    """
    in_: list[str] = Field(alias="in")
    """Headers in which the placeholder is replaced, and no others."""
    placeholder: str
    """The value of the variable in the machine. It is no secret."""
    created_at: datetime


class ConnectionAllow(Reply):
    methods: list[Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] | str]
    paths: list[str]
    """Below the connection's `url`, or the hosts: whole paths, or `/…/*` for all that is below one."""


class ConnectionAuthClientSecret(Reply):
    set: bool
    last4: str
    fingerprint: str | None
    """Compare it with that of a secret at hand, from `POST /v1/fingerprints`. A change of the master key changes
    it; null: the secret cannot be opened.
    """


class ConnectionAuth(Reply):
    kind: Literal["oauth"]
    client_id: str | None
    """A client that you made at the authorization server, which `http` and `host` need; null: one is registered
    with each consent.
    """
    client_secret: ConnectionAuthClientSecret | None
    scope: str | None
    """What is asked for; null: what the server names."""
    authorization_url: str | None
    """For `http` and `host`: where the authorization server asks a person. Its query may have what that server
    wants beside OAuth, such as `access_type=offline`.
    """
    token_url: str | None
    """For `http` and `host`: where the authorization server gives and renews access. A stored client secret goes
    to no other address.
    """
    client_auth: Literal["client_secret_basic", "client_secret_post"] | str | None
    """For `http` and `host`: how the client shows its secret, in a header or in the body; null: in a header."""


class ConnectionOAuth(Reply):
    """How far a consent has come; null: none is needed, as far as the server has said."""

    status: Literal["needed", "connected", "failed"] | str
    """`needed`: somebody must consent before the connection can be used. `connected`: there is access, and the
    host renews it. `failed`: it could not be renewed for now; the next call tries again.
    """
    reason: str | None
    """Why it is not `connected`, where there is more to say."""
    scope: str | None
    """What was granted."""
    expires_at: datetime | None
    """When the present access ends, and is renewed before; null where nobody said."""


class Connection(Reply):
    object: Literal["connection"]
    agent_id: str
    name: str
    kind: Literal["mcp", "http", "host"] | str
    """`mcp`: a server of the Model Context Protocol over streamable HTTP; the agent has its tools. `http`: any
    HTTP service; the agent sends it requests, as far as `allow` goes. `host`: hosts that programs in the
    machine reach by https under their own names, with placeholders in the place of secrets.
    """
    url: str
    """For `host`: of its first host."""
    hosts: list[str]
    """For `host`: whole names of hosts, without wildcards. In the machine they lead to Lodge, and no others do."""
    secrets: dict[str, ConnectionSecretsValue]
    """For `host`: secrets by the names of their variables, with the last four characters of their values."""
    headers: dict[str, ChannelCredentialsValue]
    """Headers that are stored, by name, with the last four characters of their values."""
    allow: list[ConnectionAllow]
    """For `http` and `host`: what may be asked. Nothing else is, and one entry must name both the method and the
    path.
    """
    tools: list[str] | None
    """For `mcp`: the tools that the agent has, by the server's names; null: all of them."""
    auth: ConnectionAuth | None
    oauth: ConnectionOAuth | None
    enabled: bool
    status_reason: str | None
    """Why Lodge disabled the connection: the server's answers held its credential. The next PUT clears it. Null:
    Lodge did not.
    """
    guest_path: str | None
    """For `http`: where programs in the agent's machine reach it, below `http://10.0.2.2:4000`. Null for `mcp`
    and `host`.
    """
    created_at: datetime
    updated_at: datetime


class ConnectionOAuthSession(Reply):
    object: Literal["oauth_session"]
    id: str
    connection: str
    status: Literal["pending"]
    authorization_url: str
    """Open it in the browser of who may consent."""
    state: str
    expires_at: datetime


class CreatedApiKey(Reply):
    id: str
    name: str
    last4: str
    scopes: list[Literal["agents:read", "agents:write", "agents:delete", "usage:read", "agents:chat", "keys:write"] | str]
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None
    made_by: str | None
    """The id of the key that made it and with which it ends; null: a person did."""
    key: str = Field(repr=False)
    """The whole key."""


class CreatedHookDeliver(Reply):
    to: Literal["none", "channel", "webhook"] | str
    """`none`: a line of it is in the agent's log. `channel`: it is said in a conversation. `webhook`: the event
    `hook.answered` has it.
    """
    channel: Literal["slack", "discord", "telegram", "whatsapp", "gmail", "email"] | str | None = None
    """With `to: "channel"`."""
    conversation: str | None = None
    """With `to: "channel"`: the id of a conversation that wrote to the agent there, as `GET
    /v1/agents/:id/messages` shows it.
    """


class CreatedHookSignatureSecret(Reply):
    set: bool
    last4: str
    fingerprint: str | None
    """Compare it with that of a secret at hand, from `POST /v1/fingerprints`. A change of the master key changes
    it; null: the secret cannot be opened.
    """


class CreatedHookSignature(Reply):
    type: Literal["github", "stripe", "standard", "hmac"] | str
    """`github`: `X-Hub-Signature-256`. `stripe`: `Stripe-Signature`, at most 5 minutes old. `standard`: Standard
    Webhooks. `hmac`: HMAC-SHA256 of the body in a header of your own.
    """
    header: str | None = None
    """With type `hmac`: the header of the signature."""
    encoding: Literal["hex", "base64"] | str | None = None
    """With type `hmac`."""
    prefix: str | None = None
    """With type `hmac`: what stands before the signature, such as `sha256=`."""
    secret: CreatedHookSignatureSecret


class CreatedHook(Reply):
    object: Literal["hook"]
    id: str
    agent_id: str
    name: str
    last4: str
    """The end of the hook's token."""
    template: str | None = None
    """What the agent is told, with fields of the JSON by their paths, such as `{{issue.title}}`; `{{list.0}}` is
    the first of a list. Each is put in as JSON on one line, in at most 4 KiB, all together in 16 KiB. Without
    a template the agent gets the whole JSON, in at most 16 KiB.
    """
    conversation: str | None = None
    """The agent's conversation that the messages go on with, as `user` names it in a chat. Without it the hook
    has one of its own.
    """
    deliver: CreatedHookDeliver
    signature: CreatedHookSignature | None = None
    created_at: datetime
    token: str = Field(repr=False)
    """Shown this once: whoever has it may send messages to the agent."""
    url: str = Field(repr=False)
    """Where the third party sends its requests, with the token in it."""


class CreatedInvitation(Reply):
    id: str
    email: str | None
    role: Literal["owner", "member", "viewer"] | str
    created_at: datetime
    expires_at: datetime
    accepted_at: datetime | None
    url: str = Field(repr=False)


class DeletedAgent(Reply):
    object: Literal["agent.deleted"]
    id: str
    deleted: bool


class DeletedChannel(Reply):
    object: Literal["channel.deleted"]
    channel: Literal["slack", "discord", "telegram", "whatsapp", "gmail"] | str
    deleted: bool


class DeletedConnection(Reply):
    object: Literal["connection.deleted"]
    name: str
    deleted: bool


class DeletedHook(Reply):
    object: Literal["hook.deleted"]
    id: str
    deleted: bool


class DeletedMember(Reply):
    object: Literal["member.deleted"]
    name: str
    deleted: bool
    pending: bool
    """Whether its workspace and sessions are still in the agent's machine."""


class DeletedPort(Reply):
    object: Literal["port.deleted"]
    port: int
    deleted: bool


class DeletedSchedule(Reply):
    object: Literal["schedule.deleted"]
    id: str
    deleted: bool


class DeletedSnapshot(Reply):
    object: Literal["snapshot.deleted"]
    id: str
    deleted: bool


class DeviceAuthorization(Reply):
    device_code: str = Field(repr=False)
    """For the token endpoint alone. Whoever has it gets the key."""
    user_code: str
    """What the person compares and types."""
    verification_uri: str
    verification_uri_complete: str
    """The same with the code in it."""
    expires_in: int
    """Seconds."""
    interval: int
    """Least seconds between two requests for the token."""


class DeviceRequest(Reply):
    client_name: str
    """As the machine calls itself: one line of visible characters."""
    address: str
    """Where the request came from."""
    scopes: list[Literal["agents:read", "agents:write", "agents:delete", "usage:read", "agents:chat", "keys:write"] | str]
    """Those that it asks for and that the person may give."""
    created_at: datetime
    expires_at: datetime


ErrorBodyErrorType = Literal[
    "invalid_request_error",
    "authentication_error",
    "authorization_error",
    "not_found_error",
    "rate_limit_error",
    "server_error",
]


ErrorBodyErrorCode = Literal[
    "invalid_request",
    "authorization_pending",
    "slow_down",
    "access_denied",
    "expired_token",
    "invalid_grant",
    "invalid_client",
    "invalid_redirect_uri",
    "invalid_target",
    "invalid_scope",
    "unsupported_grant_type",
    "invalid_json",
    "missing_api_key",
    "invalid_api_key",
    "revoked_api_key",
    "expired_api_key",
    "not_signed_in",
    "invalid_credentials",
    "second_factor_required",
    "invalid_code",
    "invalid_signature",
    "insufficient_scope",
    "csrf_refused",
    "owner_only",
    "registration_closed",
    "agent_not_found",
    "member_not_found",
    "port_not_found",
    "llm_call_not_found",
    "file_not_found",
    "link_not_valid",
    "session_not_found",
    "key_not_found",
    "device_code_not_found",
    "grant_not_found",
    "invitation_not_found",
    "account_not_found",
    "route_not_found",
    "method_not_allowed",
    "member_exists",
    "email_taken",
    "agent_not_running",
    "agent_transitioning",
    "agent_busy",
    "agent_not_resumable",
    "agent_outdated",
    "file_conflict",
    "disk_full",
    "idempotency_key_reused",
    "idempotency_in_progress",
    "precondition_failed",
    "request_too_large",
    "unsupported_media_type",
    "range_not_satisfiable",
    "rate_limit_exceeded",
    "spend_limit_exceeded",
    "loop_detected",
    "quota_exceeded",
    "internal_error",
    "provisioning_failed",
    "insufficient_capacity",
    "agent_unavailable",
    "browser_not_running",
    "channel_not_found",
    "message_not_found",
    "approval_not_found",
    "channel_conflict",
    "gmail_not_configured",
    "message_not_retryable",
    "schedule_not_found",
    "schedule_running",
    "hook_not_found",
    "confirmation_not_found",
    "confirmation_closed",
    "connection_not_found",
    "oauth_not_configured",
    "oauth_not_possible",
    "webhook_not_found",
    "delivery_not_found",
    "webhook_disabled",
    "skill_not_found",
    "skill_in_use",
    "skill_refused",
    "skill_source_failed",
    "snapshot_not_found",
    "snapshot_not_ready",
    "snapshot_damaged",
]


SkillFindingRule = Literal[
    "download_to_shell",
    "encoded_payload",
    "hidden_characters",
    "executable",
    "nested_archive",
    "credential",
    "credential_file",
]


class SkillFinding(Reply):
    severity: Literal["low", "medium", "high"] | str
    rule: SkillFindingRule | str
    """Further rules may come."""
    file: str
    line: int | None
    """Null: it is about the file as a whole."""
    message: str
    """For a person; not stable."""


class ErrorBodyError(Reply):
    type: ErrorBodyErrorType | str
    code: ErrorBodyErrorCode | str
    message: str
    """For a person; not stable."""
    findings: list[SkillFinding] | None = None
    """With `skill_refused` alone: what the review found."""


class ErrorBody(Reply):
    error: ErrorBodyError


class LodgeEvent(Reply):
    object: Literal["event"]
    id: str
    """Rises with time, within one account."""
    type: str
    """The kind of the event. Further types may come: skip those that you do not know. Today:
    `agent.operation_ended`, `agent.provisioned`, `agent.started`, `agent.restarted`, `agent.recovered`,
    `agent.resumed`, `agent.paused`, `agent.pause_failed`, `agent.stopped`, `agent.stop_failed`,
    `agent.start_failed`, `agent.starting`, `agent.restarting`, `agent.gateway_unhealthy`, `agent.crashed`,
    `agent.resume_failed`, `agent.error`, `agent.upgrading`, `agent.upgraded`, `agent.upgrade_failed`,
    `agent.restoring`, `agent.restored`, `agent.restore_undone`, `agent.exported`, `agent.export_failed`,
    `agent.resized`, `agent.resize_failed`, `agent.settings_applied`, `agent.packages_installed`,
    `agent.packages_failed`, `agent.skills_loaded`, `agent.skills_failed`, `agent.egress_applied`,
    `agent.created`, `agent.forked`, `agent.imported`, `agent.export_requested`, `agent.updated`,
    `agent.deleted`, `agent.start_requested`, `agent.resume_requested`, `agent.pause_requested`,
    `agent.stop_requested`, `agent.restart_requested`, `agent.upgrade_requested`, `agent.restore_requested`,
    `agent.member_created`, `agent.member_updated`, `agent.member_deleted`, `agent.port_published`,
    `agent.port_unpublished`, `api_key.created`, `api_key.revoked`, `oauth.granted`, `oauth.revoked`,
    `oauth.reuse_detected`, `account.updated`, `account.spend_limit_set`, `webhook.created`,
    `webhook.updated`, `webhook.removed`, `webhook.disabled`, `session.created`, `session.ended`,
    `sessions.ended`, `password.changed`, `password.reset`, `totp.enabled`, `totp.removed`,
    `invitation.created`, `invitation.accepted`, `invitation.ended`, `usage.limit_warning`,
    `usage.limit_reached`, `channel.configured`, `channel.removed`, `channel.restarted`,
    `channel.sender_decided`, `channel.connected`, `channel.disconnected`, `channel.pairing_required`,
    `channel.access_requested`, `message.received`, `message.retried`, `message.answered`, `message.failed`,
    `schedule.created`, `schedule.updated`, `schedule.deleted`, `schedule.run_asked`, `schedule.ran`,
    `schedule.failed`, `schedule.missed`, `hook.created`, `hook.removed`, `hook.received`, `hook.answered`,
    `hook.failed`, `hook.skipped`, `connection.put`, `connection.removed`, `connection.connected`,
    `connection.consent_needed`, `connection.answer_refused`, `confirmation.requested`,
    `confirmation.decided`, `confirmation.expired`, `confirmation.done`, `skill.created`,
    `skill.version_added`, `skill.deleted`, `agent.skill_put`, `agent.skill_removed`, `browser.control_taken`,
    `browser.control_released`, `snapshot.created`, `snapshot.failed`, `snapshot.updated`, `snapshot.deleted`,
    `snapshot.damaged`.
    """
    created_at: datetime
    agent_id: str | None
    """The agent that it is about."""
    data: dict[str, Any]
    """Further facts, by the type; never a secret."""


class ExecResult(Reply):
    object: Literal["exec"]
    exit_code: int | None
    """Null where a signal ended it."""
    signal: str | None
    timed_out: bool
    truncated: bool
    """There was more output than is given."""
    duration_ms: int
    stdout: str
    """Up to 1 MiB, as UTF-8."""
    stderr: str
    """Up to 1 MiB, as UTF-8."""


class AgentFile(Reply):
    object: Literal["file"]
    path: str
    """Within the agent's workspace."""
    name: str
    type: Literal["file", "directory", "symlink", "other"] | str
    """`symlink`: a link, shown as such in a list; reading and writing follow it within the workspace."""
    size: int
    """Bytes."""
    mode: str
    """Permissions in octal."""
    modified_at: datetime
    etag: str
    """As in the header ETag: another one whenever the contents may be others."""
    target: str | None
    """Where a link points; null for anything else."""


class FileChange(Reply):
    path: str
    """Within the workspace."""
    change: Literal["added", "removed", "changed"] | str
    """On the way from the snapshot to the other side. A folder does not change."""
    size: int
    """Bytes after the change, or before it if it was removed."""


class FileDeleted(Reply):
    object: Literal["file.deleted"]
    path: str
    """Within the agent's workspace."""
    deleted: bool


class Fingerprint(Reply):
    object: Literal["fingerprint"]
    for_: Literal["llm_key", "channel", "connection", "hook"] | str = Field(alias="for")
    fingerprint: str
    """Of this kind and value, in this account, by a key of the server."""


class Fork(Reply):
    object: Literal["fork"]
    snapshot: str
    """Id of the snapshot that they begin from. One that was made for them is kept for a week."""
    data: list[Agent]
    """The forks. Each stands alone: one may be in `error` beside others."""


class Grant(Reply):
    id: str
    client_name: str
    """As the program calls itself."""
    redirect_host: str
    """Host, or scheme of a program, that got the answer."""
    scopes: list[Literal["agents:read", "agents:write", "agents:delete", "usage:read", "agents:chat", "keys:write"] | str]
    created_at: datetime
    last_used_at: datetime | None
    expires_at: datetime
    """When it ends unless the program renews it."""


class Health(Reply):
    status: Literal["ok", "starting"] | str
    """`starting`: the API answers, but agents cannot be started yet."""
    step: str | None
    """What the start is doing."""
    version: str
    """Version of the service."""


class Hook(Reply):
    object: Literal["hook"]
    id: str
    agent_id: str
    name: str
    last4: str
    """The end of the hook's token."""
    template: str | None = None
    """What the agent is told, with fields of the JSON by their paths, such as `{{issue.title}}`; `{{list.0}}` is
    the first of a list. Each is put in as JSON on one line, in at most 4 KiB, all together in 16 KiB. Without
    a template the agent gets the whole JSON, in at most 16 KiB.
    """
    conversation: str | None = None
    """The agent's conversation that the messages go on with, as `user` names it in a chat. Without it the hook
    has one of its own.
    """
    deliver: CreatedHookDeliver
    signature: CreatedHookSignature | None = None
    created_at: datetime


class HookMessage(Reply):
    object: Literal["hook_message"]
    id: str
    hook_id: str
    state: Literal["received", "answering", "answered", "failed", "skipped"] | str
    """`skipped`: the agent did not run, and its `lifecycle.wake_on_message` is false. `failed`: it has failed
    for good, or its answer did not get where it belongs.
    """
    attempts: int
    """How often its turn was begun; after a failure it is tried again up to two times."""
    reason: str | None
    """Why it is not `answered`, or what came of the attempt before."""
    received_at: datetime
    started_at: datetime | None
    ended_at: datetime | None


class HookReceipt(Reply):
    object: Literal["hook_receipt"]
    message_id: str | None
    """Null: the request only asked whether the hook is there."""
    repeated: bool
    """The delivery came before: it is the same message."""


class HostMemory(Reply):
    """Null while the host does not answer."""

    total_mib: int
    available_mib: int
    agents_mib: int | None
    """Held by the machines that were read."""


class HostDisk(Reply):
    """Null while the host does not answer."""

    total_mib: int
    """Of the file system of the disks of agents."""
    free_mib: int
    agents_mib: int | None
    """Held by disks and saved memory of agents."""


class HostAgentsByStatu(Reply):
    status: Literal["provisioning", "running", "paused", "stopped", "error"] | str
    count: int


class HostAgentsTopItem(Reply):
    id: str
    name: str | None
    """Null for an agent of another person's."""
    account_id: str
    status: Literal["provisioning", "running", "paused", "stopped", "error"] | str
    memory_mib: int | None
    """Share of the memory of the host; null when it was not read."""
    disk_mib: int
    snapshot_mib: int
    """Saved memory of a stopped agent."""


class HostAgents(Reply):
    """Null while the host does not answer."""

    total: int
    """Of all people."""
    by_status: list[HostAgentsByStatu]
    unread: int
    """Awake machines whose memory was not read."""
    top: list[HostAgentsTopItem]
    """Those that hold the most, first."""


class HostTemplate(Reply):
    runtime: str
    state: Literal["building", "early", "ready", "failed"] | str
    """`early`: agents are made from it, and it is still warmed up."""
    step: str
    """What is being done, or why it failed."""
    fraction: float | None
    since: datetime


class HostVersionsRuntime(Reply):
    runtime: str
    current: str | None
    """Of new agents; null while its template is made."""
    newest: str | None
    """The one that an upgrade brings."""
    outdated_agents: int
    """Agents that an upgrade would bring something."""


class HostVersions(Reply):
    lodge: str
    runtimes: list[HostVersionsRuntime]


class HostFinding(Reply):
    name: str
    state: Literal["fail", "warn", "note"] | str
    """`fail`: it must not stay so. `warn`: something is weak. `note`: there is something to know."""
    detail: str
    advice: str | None


class HostBackupsLast(Reply):
    """The last whole backup."""

    made_at: datetime
    place: str
    name: str


class HostBackups(Reply):
    place: str | None
    """Where they are made by themselves; null: nobody set a place."""
    times: list[str]
    """Of the day, in UTC."""
    last: HostBackupsLast | None
    """The last whole backup."""
    is_known: bool
    """False: only root may read the note of the last one."""


class Host(Reply):
    object: Literal["host"]
    looked_at: datetime
    memory: HostMemory | None
    """Null while the host does not answer."""
    disk: HostDisk | None
    """Null while the host does not answer."""
    agents: HostAgents | None
    """Null while the host does not answer."""
    templates: list[HostTemplate]
    versions: HostVersions
    findings: list[HostFinding] | None
    """What the checks of `doctor` found that is not in order, worst first. Null: not looked at yet."""
    unseen: list[str]
    """Checks that only `doctor` as root can make."""
    backups: HostBackups | None


ImportedAgentImportMissingItemKind = Literal[
    "llm_key",
    "channel",
    "connection",
    "hook",
    "port",
    "skill",
    "peer",
    "confirmation_rule",
    "confirmation_delivery",
    "schedule",
    "schedule_delivery",
    "file",
]


class ImportedAgentImportMissingItem(Reply):
    kind: ImportedAgentImportMissingItemKind | str
    name: str
    """Its name, provider, channel or path."""


class ImportedAgentImport(Reply):
    missing: list[ImportedAgentImportMissingItem]
    """Things that the exported agent had and that no export has: keys, tokens and grants, and what needs them."""


class ImportedAgent(Reply):
    object: Literal["agent"]
    id: str
    name: str
    description: str | None
    instructions: str | None
    """Who the agent is and how it works."""
    settings_pending: bool
    """Whether the machine has yet to take over instructions, members, dashboard, browser, egress, variables,
    skills or packages as they are now: within seconds while it runs, packages within minutes, else at its
    next start.
    """
    status: Literal["provisioning", "running", "paused", "stopped", "error"] | str
    status_reason: AgentStatusReason | None
    """Why the agent is in its status; always set in `error`."""
    transition: AgentTransition | None
    """The change of the machine that is under way; null when none is. A snapshot changes nothing; going back to
    one counts as a restart.
    """
    runtime_kind: Literal["runtime_a", "runtime_b"] | str
    runtime: AgentRuntime | None
    """What runs in the VM, in the version that it has there; null when this deployment does not offer it."""
    upgrade_available: bool
    """A newer image is ready than the one the agent was made from: `POST /v1/agents/:id/upgrade` moves it."""
    model: str
    size: Literal["small", "medium", "large", "xlarge"] | str
    """The size asked for."""
    machine: Machine
    disk: Disk
    url: str
    dashboard_url: str | None
    browser: bool
    """Whether it has a browser in its machine."""
    llm_keys: list[AgentLlmKey]
    channels: list[AgentChannel]
    lifecycle: Lifecycle
    spend_limit: SpendLimit | None
    egress: Egress
    env: dict[str, str]
    """Plain variables of the commands, terminals and tools in the agent’s machine, by name."""
    packages: Packages
    packages_error: str | None
    """Why the packages are not installed; null while nothing has failed. It is tried again."""
    confirmations: ConfirmationRules | None
    models: list[str] | None
    """Models that it may call beside its own and its members'; null: any."""
    peers: list[str]
    """Ids of agents that it may ask with its tool `ask_agent`; `*` for all of the account."""
    snapshots: SnapshotPlan
    forked_from: ForkedFrom | None
    labels: dict[str, str]
    """Up to 50 short pairs to select by: `label[team]=support` in a list. Notes of your own are `metadata`."""
    metadata: dict[str, str]
    """Up to 50 pairs of strings: your own notes. What lists are to select by are `labels`."""
    created_at: datetime
    updated_at: datetime
    started_at: datetime | None
    paused_at: datetime | None
    stopped_at: datetime | None
    last_active_at: datetime | None
    import_: ImportedAgentImport = Field(alias="import")


class Invitation(Reply):
    id: str
    email: str | None
    role: Literal["owner", "member", "viewer"] | str
    created_at: datetime
    expires_at: datetime
    accepted_at: datetime | None


class LimitsQuotasAgents(Reply):
    """Agents of the account."""

    limit: int
    used: int


class LimitsQuotas(Reply):
    agents: LimitsQuotasAgents
    """Agents of the account."""
    running_agents: LimitsQuotasAgents
    """Those that run or are on their way to it; paused ones do not count."""


class LimitsSnapshots(Reply):
    per_agent: int
    """Most snapshots of an agent."""
    limit_gb: int
    """Most gibibytes that all of them hold."""
    used_gb: float


class LimitsRatesReads(Reply):
    """GET and HEAD, per key."""

    per_minute: int
    """Also the most at once after a pause."""


class LimitsRatesCreates(Reply):
    """`POST /v1/agents`, per key."""

    per_minute: int
    at_once: int


class LimitsRates(Reply):
    reads: LimitsRatesReads
    """GET and HEAD, per key."""
    writes: LimitsRatesReads
    """Other methods, per key."""
    creates: LimitsRatesCreates
    """`POST /v1/agents`, per key."""
    calls: LimitsRatesReads
    """Chat, exec and files, per key."""
    without_key: LimitsRatesReads
    """Requests without a valid key, per address."""


class LimitsSpend(Reply):
    """Null for a key without the scope `usage:read`."""

    daily: AccountSpendDaily
    """Model calls of all agents of the account, this day (UTC)."""
    monthly: AccountSpendDaily
    """Model calls of all agents of the account, this month (UTC)."""
    action: Literal["block", "pause"] | str | None
    """`block`: once it is reached, model calls are refused until the window ends. `pause`: the agent is put to
    sleep as well, and no message wakes it before.
    """
    agent_default: SpendLimit | None


class LimitsSizes(Reply):
    """Largest request bodies."""

    json_body_bytes: int
    file_bytes: int


class Limits(Reply):
    object: Literal["limits"]
    quotas: LimitsQuotas
    snapshots: LimitsSnapshots
    rates: LimitsRates
    spend: LimitsSpend | None
    """Null for a key without the scope `usage:read`."""
    sizes: LimitsSizes
    """Largest request bodies."""


class Link(Reply):
    object: Literal["link"]
    url: str = Field(repr=False)
    """Opens the page in a browser, once. Whoever has it can: hand it to nobody else."""
    expires_at: datetime


class LlmCall(Reply):
    object: Literal["llm_call"]
    id: str
    started_at: datetime
    provider: str
    model: str
    api: Literal["openai-completions", "openai-responses", "anthropic-messages", "google-generative-ai"] | str | None
    """Which API of the provider. Null in calls from before it was kept."""
    outcome: Literal["ok", "provider_error", "cancelled", "unreachable", "refused", "interrupted"] | str
    """`refused`: it did not go out. `cancelled`: the agent gave it up. `interrupted`: the server ended in its
    midst, and the figures are those expected before it.
    """
    status: int | None
    """HTTP status of the provider's answer; null when none came."""
    duration_ms: int | None
    time_to_first_byte_ms: int | None
    input_tokens: int | None
    """Without cached ones."""
    output_tokens: int | None
    """With reasoning."""
    cache_read_tokens: int | None
    cache_write_tokens: int | None
    reasoning_tokens: int | None
    """Part of the output, where the provider tells."""
    estimated: bool
    """Nobody told all tokens; they are estimated."""
    cost: str | None
    """US dollars, as decimal text. Null: the model has no known price."""
    price_version: str | None
    """Which price list it is by."""


class LlmCallDetailContent(Reply):
    """What was said. Null unless the account recorded its model calls then; deleted after some days (a setting
    of the deployment), and with the agent.
    """

    request: str | None
    """The body that the agent sent, without headers. Null when none was read."""
    response: str | None
    """The body that the provider answered; of a stream its events, as they came. Null when nothing whole came."""
    truncated: bool
    """One of them was longer than the 256 KiB that are kept of each."""


class LlmCallDetail(Reply):
    object: Literal["llm_call"]
    id: str
    started_at: datetime
    provider: str
    model: str
    api: Literal["openai-completions", "openai-responses", "anthropic-messages", "google-generative-ai"] | str | None
    """Which API of the provider. Null in calls from before it was kept."""
    outcome: Literal["ok", "provider_error", "cancelled", "unreachable", "refused", "interrupted"] | str
    """`refused`: it did not go out. `cancelled`: the agent gave it up. `interrupted`: the server ended in its
    midst, and the figures are those expected before it.
    """
    status: int | None
    """HTTP status of the provider's answer; null when none came."""
    duration_ms: int | None
    time_to_first_byte_ms: int | None
    input_tokens: int | None
    """Without cached ones."""
    output_tokens: int | None
    """With reasoning."""
    cache_read_tokens: int | None
    cache_write_tokens: int | None
    reasoning_tokens: int | None
    """Part of the output, where the provider tells."""
    estimated: bool
    """Nobody told all tokens; they are estimated."""
    cost: str | None
    """US dollars, as decimal text. Null: the model has no known price."""
    price_version: str | None
    """Which price list it is by."""
    content: LlmCallDetailContent | None
    """What was said. Null unless the account recorded its model calls then; deleted after some days (a setting
    of the deployment), and with the agent.
    """


class LlmKeyCheck(Reply):
    object: Literal["llm_key_check"]
    provider: str
    last4: str
    """The key's last characters; empty for a short one."""
    works: bool | None
    """Null where that could not be told."""
    message: str
    """One sentence."""


class LlmKeyChecks(Reply):
    object: Literal["list"]
    data: list[LlmKeyCheck]
    has_more: bool
    next_cursor: None


class LogEntry(Reply):
    id: str
    """Rises with time, within one agent."""
    timestamp: datetime
    level: Literal["debug", "info", "warn", "error"] | str
    source: Literal["system", "console", "gateway", "channel", "egress"] | str
    """`system`: what Lodge did with the agent and why. `console`: the machine's console. `gateway`: the
    runtime's own log.
    """
    message: str


class Model(Reply):
    id: str
    """The agent's id, or `<agent id>/<member>`."""
    object: Literal["model"]
    created: int
    """Seconds since 1970."""
    owned_by: Literal["lodge"]
    name: str
    """The agent's name, or the member's."""


class ModelList(Reply):
    object: Literal["list"]
    data: list[Model]


class OAuthClient(Reply):
    client_id: str
    client_id_issued_at: int
    """Seconds since 1970."""
    client_name: str
    redirect_uris: list[str]
    grant_types: list[str]
    response_types: list[str]
    token_endpoint_auth_method: Literal["none"]
    """Clients have no secret."""


class OAuthSession(Reply):
    object: Literal["oauth_session"]
    id: str
    channel: Literal["gmail"]
    status: Literal["pending"]
    authorization_url: str
    """Open it in the browser of the mailbox's owner."""
    state: str
    expires_at: datetime


class OfferedModelPrices(Reply):
    """The operator's own; they go before the known ones."""

    input: str
    """US dollars for a million tokens in."""
    output: str
    """US dollars for a million tokens out."""
    cache_read: str | None
    """US dollars for a million tokens read from a cache."""
    cache_write: str | None
    """US dollars for a million tokens written to a cache."""


class OfferedModel(Reply):
    id: str
    """The provider's own name of it."""
    context_window: int | None
    """Tokens it takes in."""
    prices: OfferedModelPrices | None
    """The operator's own; they go before the known ones."""


class Pairing(Reply):
    object: Literal["pairing"]
    channel: Literal["slack", "discord", "telegram", "whatsapp", "gmail"] | str
    status: Literal["pending", "connected", "expired", "failed"] | str
    reason: ChannelReason | None
    qr: str | None
    """What the code to scan says; null while there is none."""
    qr_png: str | None
    """The code to scan as a picture, a data URL."""
    pairing_code: str | None
    """The code to type in on the phone."""
    expires_at: datetime | None
    attempt: int
    """Rises with each code."""


class Person(Reply):
    id: str
    name: str
    email: str | None
    role: Literal["owner", "member", "viewer"] | str
    created_at: datetime
    agents: int
    spend_limit: SpendLimit | None


class PersonalAccount(Reply):
    object: Literal["account"]
    id: str
    name: str
    record_llm_calls: bool
    """Whether what is said in model calls of its agents is kept for some days, for every key with the scope
    `usage:read`. False by default.
    """
    created_at: datetime
    email: str | None
    """Null until somebody has made the account theirs."""
    role: Literal["owner", "member", "viewer"] | str
    totp_enabled: bool
    """Whether signing in takes a second factor."""


class Port(Reply):
    object: Literal["port"]
    port: int
    public: bool
    """True: anyone who knows the address reaches it."""
    url: str
    created_at: datetime


class Provider(Reply):
    object: Literal["provider"]
    id: str
    name: str
    base_url: str | None
    """Where its first API is; null for those the operator added."""
    apis: list[Literal["openai-completions", "openai-responses", "anthropic-messages", "google-generative-ai"] | str]
    """The APIs it speaks; runtimes use the first where they can."""
    key_header: str
    """Request header that carries its key."""
    needs_key: bool
    """False for servers that take no key."""
    key_check: bool
    """Whether its keys can be checked without being used."""
    docs_url: str | None
    """Where its models and keys are explained."""
    models: list[OfferedModel]
    """Models the operator has described; others can be used too."""
    built_in: bool
    """False for those the operator added."""


class RecoveryCodes(Reply):
    recovery_codes: list[str] = Field(repr=False)


class ScheduleDeliver(Reply):
    to: Literal["none", "channel", "webhook"] | str
    """`none`: the answer stays in the run. `channel`: it is said in a conversation. `webhook`: the event
    `schedule.ran` has it.
    """
    channel: Literal["slack", "discord", "telegram", "whatsapp", "gmail", "email"] | str | None = None
    """With `to: "channel"`."""
    conversation: str | None = None
    """With `to: "channel"`: the id of a conversation that wrote to the agent there, as `GET
    /v1/agents/:id/messages` shows it.
    """


class ScheduleLastRun(Reply):
    """The newest that is not `missed`; null: there was none."""

    object: Literal["schedule_run"]
    id: str
    schedule_id: str
    scheduled_for: datetime
    started_at: datetime | None
    ended_at: datetime | None
    status: Literal["ok", "failed", "missed", "skipped"] | str | None
    """`missed`: the time passed while the service was down, or the run could not begin. `skipped`: the run
    before was not over, or the agent was asleep and `wake` is false. Null: it waits, or is under way.
    """
    attempts: int
    """How often its turn was begun; after a failure it is tried again up to three times."""
    cost: str | None
    """Decimal USD of the agent's model calls while the run was under way. Null: none of them had a known price."""
    answer_preview: str | None
    """The first lines of the answer."""
    error: str | None
    """Why it is not `ok`, or what came of the attempt before."""


class Schedule(Reply):
    object: Literal["schedule"]
    id: str
    agent_id: str
    name: str
    enabled: bool
    """False: no time comes. It can be run by hand."""
    cron: str | None = None
    """Five fields: minute, hour, day of month, month, day of week, in `time_zone`. Where clocks go ahead, a time
    that does not come comes at the end of the gap; where they go back, a time that comes twice is taken once.
    An expression with `*` or a step among minutes and hours runs by elapsed time instead.
    """
    every: str | None = None
    """An interval of minutes, hours or days, from `1m` to `366d`; the first run is one interval from now."""
    at: datetime | None = None
    """One time."""
    time_zone: str
    """A name of the time zone database."""
    prompt: str
    """What the agent is told. A line before it says which schedule it is, and for when."""
    conversation: str | None = None
    """The agent's conversation that the runs go on with, as `user` names it in a chat. Without it the schedule
    has one of its own.
    """
    deliver: ScheduleDeliver
    wake: bool
    """False: an agent that does not run is left asleep, and the time is `skipped`."""
    next_run_at: datetime | None
    """Null: it is not enabled, or its one time has passed."""
    last_run: ScheduleLastRun | None
    """The newest that is not `missed`; null: there was none."""
    created_at: datetime
    updated_at: datetime


class ScheduleRun(Reply):
    object: Literal["schedule_run"]
    id: str
    schedule_id: str
    scheduled_for: datetime
    started_at: datetime | None
    ended_at: datetime | None
    status: Literal["ok", "failed", "missed", "skipped"] | str | None
    """`missed`: the time passed while the service was down, or the run could not begin. `skipped`: the run
    before was not over, or the agent was asleep and `wake` is false. Null: it waits, or is under way.
    """
    attempts: int
    """How often its turn was begun; after a failure it is tried again up to three times."""
    cost: str | None
    """Decimal USD of the agent's model calls while the run was under way. Null: none of them had a known price."""
    answer_preview: str | None
    """The first lines of the answer."""
    error: str | None
    """Why it is not `ok`, or what came of the attempt before."""


class SessionBodySession(Reply):
    id: str
    created_at: datetime
    expires_at: datetime


class SessionBody(Reply):
    session: SessionBodySession
    account: PersonalAccount
    csrf_token: str = Field(repr=False)


class SessionRecord(Reply):
    id: str
    created_at: datetime
    last_seen_at: datetime
    expires_at: datetime
    address: str
    user_agent: str | None
    current: bool
    """Whether it is the one that asks."""


class Size(Reply):
    object: Literal["size"]
    id: Literal["small", "medium", "large", "xlarge"] | str
    vcpus: int
    memory_mb: int
    disk_gb: int
    default: bool
    """Taken when a create names none."""


class SkillSource(Reply):
    kind: Literal["upload", "git", "hub"] | str
    url: str | None = None
    """The address of the repository."""
    ref: str | None = None
    """The branch, tag or commit that was asked for."""
    path: str | None = None
    """The skill's folder in the repository; empty: the repository itself."""
    commit: str | None = None
    """The commit that was fetched."""
    name: Literal["clawhub", "skills.sh"] | str | None = None
    slug: str | None = None
    """Its name at the hub."""
    version: str | None = None
    """Its version at the hub, or the digest that the hub gives."""


class Skill(Reply):
    object: Literal["skill"]
    id: str
    name: str
    version: int
    """Counts from 1. A version never changes."""
    description: str
    """From its SKILL.md."""
    digest: str
    """SHA-256 over the paths, modes and contents of its files, in hex."""
    source: SkillSource
    requires: AgentSkillMissing
    findings: list[SkillFinding]
    """The findings of the review, the worst first, at most 32."""
    bytes: int
    """The size of all its files."""
    files: int
    """How many files it has."""
    agents: int
    """How many agents use it, in whatever version."""
    created_at: datetime
    updated_at: datetime


class SkillDeleted(Reply):
    object: Literal["skill.deleted"]
    id: str
    deleted: bool


class SkillVersionFile(Reply):
    path: str
    bytes: int
    sha256: str
    """In hex."""
    executable: bool


class SkillVersion(Reply):
    object: Literal["skill_version"]
    id: str
    skill_id: str
    version: int
    """Counts from 1. A version never changes."""
    description: str
    """From its SKILL.md."""
    digest: str
    """SHA-256 over the paths, modes and contents of its files, in hex."""
    source: SkillSource
    requires: AgentSkillMissing
    findings: list[SkillFinding]
    """The findings of the review, the worst first, at most 32."""
    bytes: int
    """The size of all its files."""
    files: list[SkillVersionFile]
    created_at: datetime


class SnapshotRuntime(Reply):
    """The software in the machine, in the version that it had there."""

    name: str
    version: str | None


class Snapshot(Reply):
    object: Literal["snapshot"]
    id: str
    agent_id: str
    name: str | None
    note: str | None
    """Free text."""
    kind: Literal["named", "auto", "fork", "before_restore", "before_upgrade"] | str
    """`named`: somebody asked for it. `auto`: the agent has a plan for `snapshots`. The others were made by what
    they name.
    """
    status: Literal["saving", "ready", "failed", "damaged"] | str
    """`failed`: it was not saved, and `error` says why. `damaged`: it is shown and never loaded."""
    memory: bool
    """Whether it has the memory of the machine, and not its disk alone."""
    loads: Literal["memory", "disk"] | str
    """How an agent starts from it: `disk` where it has no memory, or this host cannot take it."""
    runtime: SnapshotRuntime
    """The software in the machine, in the version that it had there."""
    size: Literal["small", "medium", "large", "xlarge"] | str
    bytes: int
    """Bytes of memory."""
    disk_bytes: int
    """Bytes of its disk, which later snapshots may share."""
    pinned: bool
    """True: it outlives its agent."""
    expires_at: datetime | None
    """It is deleted then; null: it is kept."""
    error: str | None
    """The reason why it is not ready."""
    created_at: datetime


class SnapshotDiff(Reply):
    object: Literal["list"]
    data: list[FileChange]
    """By path; at most 1,000."""
    truncated: bool
    """Whether the workspace has more in it than was looked at, or more differs than is shown."""


class SnapshotFile(Reply):
    object: Literal["snapshot.file"]
    path: str
    """Within the workspace."""
    name: str
    type: Literal["file", "directory", "symlink", "other"] | str
    """`symlink`: a link, shown as such."""
    size: int
    """Bytes."""
    modified_at: datetime


class Token(Reply):
    access_token: str = Field(repr=False)
    """An API key: `Authorization: Bearer`, or `X-API-Key`."""
    token_type: Literal["Bearer"]
    expires_in: int | None = None
    """Seconds. A key of a device has none."""
    refresh_token: str | None = Field(default=None, repr=False)
    """For the next token. A device gets none."""
    scope: str
    key_id: str
    """The id of the API key, which for a grant is the id of the grant."""


class TotpBegun(Reply):
    secret: str = Field(repr=False)
    otpauth_url: str = Field(repr=False)


class Upload(Reply):
    object: Literal["upload"]
    id: str
    """An id that you choose for one file of this agent, 16 to 64 letters, digits, `_` and `-`. A hash of what is
    sent and where it goes finds the upload again after a crash of your own.
    """
    offset: int
    """Bytes that are on the agent's disk: where the next part begins. 0 where nothing has come."""


class UploadDeleted(Reply):
    object: Literal["upload.deleted"]
    id: str
    """An id that you choose for one file of this agent, 16 to 64 letters, digits, `_` and `-`. A hash of what is
    sent and where it goes finds the upload again after a crash of your own.
    """
    deleted: bool


class UsageBucketCompute(Reply):
    running_seconds: float
    paused_seconds: float
    stopped_seconds: float
    vcpu_seconds: float
    """vCPUs of the machine, times the seconds it ran."""
    cpu_seconds: float
    """CPU time that was really used."""
    memory_gb_seconds: float
    """Of machines that run or are paused."""
    storage_gb_seconds: float
    """Disk of the machine, in every status, and of snapshots."""


class UsageBucketLlm(Reply):
    requests: int
    """Model calls that went out."""
    input_tokens: int
    """Without cached ones."""
    output_tokens: int
    """With reasoning."""
    cache_read_tokens: int
    cache_write_tokens: int
    unpriced_requests: int
    """Calls that used tokens at no known price: they are in no cost."""
    estimated_requests: int
    """Calls whose tokens are estimated, for nobody told them."""


class UsageBucketNetwork(Reply):
    egress_bytes: int
    """Sent to public addresses."""


class UsageBucketCost(Reply):
    """US dollars, as decimal text."""

    compute: str
    """The cost of machines, by the prices of this deployment."""
    llm: str
    """The cost of model calls, by the list prices of their providers."""
    storage: str
    """The cost of disks and snapshots, by the prices of this deployment."""
    total: str
    """All of it."""


class UsageBucket(Reply):
    starting_at: datetime
    ending_at: datetime
    group: str | None
    """An agent's id, `<provider>/<model>` or a provider, as `group_by` says. Null without it, and for what no
    model or provider can be told for: machines and network.
    """
    compute: UsageBucketCompute
    llm: UsageBucketLlm
    network: UsageBucketNetwork
    cost: UsageBucketCost
    """US dollars, as decimal text."""


class UsageTotals(Reply):
    """Of the whole range."""

    compute: UsageBucketCompute
    llm: UsageBucketLlm
    network: UsageBucketNetwork
    cost: UsageBucketCost
    """US dollars, as decimal text."""


class Usage(Reply):
    object: Literal["usage"]
    starting_at: datetime
    ending_at: datetime
    bucket_width: Literal["1m", "1h", "1d", "all"] | str
    group_by: Literal["agent", "model", "provider"] | str | None
    time_zone: str
    data: list[UsageBucket]
    """In order of time, then of group. Without `group_by` every bucket; with it those in which anything was
    used.
    """
    totals: UsageTotals


class Webhook(Reply):
    object: Literal["webhook"]
    id: str
    url: str
    """Where events are sent, by https. Private addresses are refused unless the operator allows them."""
    events: list[str]
    """Types of events: a type such as `agent.paused`, a family such as `agent.*`, or `*` for all."""
    description: str
    """A label of your own."""
    enabled: bool
    """A disabled webhook is told nothing."""
    disabled_reason: str | None
    """Why Lodge disabled it."""
    secret_last4: str
    previous_secret_until: datetime | None
    """Until then the secret before signs too."""
    failing_since: datetime | None
    """Since then every attempt has failed."""
    pending: int
    """Deliveries that wait for their turn, or for the next attempt."""
    created_at: datetime
    updated_at: datetime


class WebhookDeleted(Reply):
    object: Literal["webhook.deleted"]
    id: str
    deleted: bool


class WebhookDelivery(Reply):
    object: Literal["webhook_delivery"]
    id: str
    webhook_id: str
    event_id: str | None
    """Null: a test."""
    event_type: str
    agent_id: str | None
    state: Literal["pending", "delivered", "failed"] | str
    attempts: int
    next_attempt_at: datetime | None
    last_attempt_at: datetime | None
    response_status: int | None
    """Of the last attempt that was answered."""
    reason: str | None
    """What went wrong at the last attempt."""
    duration_ms: int | None
    created_at: datetime
    ended_at: datetime | None


class WebhookWithSecret(Reply):
    object: Literal["webhook"]
    id: str
    url: str
    """Where events are sent, by https. Private addresses are refused unless the operator allows them."""
    events: list[str]
    """Types of events: a type such as `agent.paused`, a family such as `agent.*`, or `*` for all."""
    description: str
    """A label of your own."""
    enabled: bool
    """A disabled webhook is told nothing."""
    disabled_reason: str | None
    """Why Lodge disabled it."""
    secret_last4: str
    previous_secret_until: datetime | None
    """Until then the secret before signs too."""
    failing_since: datetime | None
    """Since then every attempt has failed."""
    pending: int
    """Deliveries that wait for their turn, or for the next attempt."""
    created_at: datetime
    updated_at: datetime
    secret: str = Field(repr=False)
    """Shown this once. Signatures are made with it."""


class SessionList(Reply):
    data: list[SessionRecord]


class ApiKeyList(Reply):
    data: list[ApiKey]


class PersonList(Reply):
    data: list[Person]


class InvitationList(Reply):
    data: list[Invitation]


class GrantList(Reply):
    data: list[Grant]
