"""What requests hold: typed dictionaries.

`node scripts/docs.ts` writes this file from docs/reference/openapi.json.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

from typing_extensions import Required, TypedDict

__all__ = [
    "AddSkillGit",
    "AddSkillHub",
    "AgentChatStreamOptions",
    "ChannelsInput",
    "ChannelsInputDiscord",
    "ChannelsInputSlack",
    "ChannelsInputSlackAccess",
    "ChannelsInputSlackAccessGroups",
    "ChannelsInputTelegram",
    "ChannelsInputWhatsapp",
    "ConnectionAllow",
    "CreateAgentConfirmations",
    "CreateAgentConfirmationsDeliverItem",
    "CreateAgentConfirmationsRule",
    "CreateAgentEgress",
    "CreateAgentFrom",
    "CreateAgentLifecycle",
    "CreateAgentLlmKey",
    "CreateAgentPackages",
    "CreateAgentSnapshots",
    "CreateHookDeliver",
    "CreateHookSignature",
    "CreateScheduleDeliver",
    "FingerprintSecretsValue",
    "ListEventsType",
    "PutConnectionAuth",
    "PutConnectionSecretsValue",
    "SpendLimitInput",
    "UpdateAgentLifecycle",
    "UpdateAgentLlmKey",
]


class CreateAgentLlmKey(TypedDict, total=False):
    provider: Required[str]
    """An id of `GET /v1/providers`."""
    api_key: Required[str]
    """The provider's secret. Kept encrypted, never given back."""


class CreateAgentFrom(TypedDict, total=False):
    """Begins from a snapshot instead of the template: the machine, with its files and conversations, is that of
    the snapshot, and every setting is that of this request. `runtime_kind` is that of the snapshot, and
    `size` is not smaller; both are taken from it where they are left out.
    """

    snapshot: Required[str]
    """A snapshot of the account."""
    include: Sequence[Literal["browser"]]
    """The profile of its `browser` comes along, with its logins; by default it is removed."""


class CreateAgentLifecycle(TypedDict, total=False):
    """Fields that are left out keep their defaults."""

    idle_timeout_seconds: int
    """Idle for this long, a running agent is paused; 0 is never."""
    stop_after_seconds: int
    """Paused for this long, an agent is stopped."""
    keep_awake: Literal["auto", "always"]
    """`auto`: an idle agent sleeps. `always`: it does not."""
    auto_resume: bool
    """A request wakes a paused agent."""
    auto_start: bool
    """A request starts a stopped agent."""
    wake_on_message: bool
    """A message on a channel wakes the agent."""


class ChannelsInputSlackAccessGroups(TypedDict, total=False):
    mode: Literal["allowlist", "open", "disabled"]
    """`allowlist`: in the groups of `allow`, and to those who may write directly. `open`: in any. `disabled`: in
    none.
    """
    allow: Sequence[str]
    require_mention: bool
    """False: it answers what does not address it, too."""


class ChannelsInputSlackAccess(TypedDict, total=False):
    """Fields that are left out have their defaults: `pairing`, and groups by mention."""

    mode: Literal["pairing", "allowlist", "open", "disabled"]
    """Who may write directly. `pairing`: somebody unknown gets a code that you approve. `allowlist`:
    `allow_from` alone. `open`: anybody. `disabled`: nobody.
    """
    allow_from: Sequence[str]
    per_sender_hourly: int
    """Messages of one sender in an hour that are answered; more are refused."""
    groups: ChannelsInputSlackAccessGroups


class ChannelsInputSlack(TypedDict, total=False):
    appToken: str
    """For Socket Mode. Left out, the stored one stays."""
    botToken: str
    """Kept encrypted, never given back. Left out, the stored one stays."""
    enabled: bool
    """False: kept, and not connected."""
    access: ChannelsInputSlackAccess
    """Fields that are left out have their defaults: `pairing`, and groups by mention."""


class ChannelsInputDiscord(TypedDict, total=False):
    botToken: str
    """Kept encrypted, never given back. Left out, the stored one stays."""
    enabled: bool
    """False: kept, and not connected."""
    access: ChannelsInputSlackAccess
    """Fields that are left out have their defaults: `pairing`, and groups by mention."""


class ChannelsInputTelegram(TypedDict, total=False):
    botToken: str
    """Kept encrypted, never given back. Left out, the stored one stays."""
    enabled: bool
    """False: kept, and not connected."""
    access: ChannelsInputSlackAccess
    """Fields that are left out have their defaults: `pairing`, and groups by mention."""


class ChannelsInputWhatsapp(TypedDict, total=False):
    enabled: bool
    """False: kept, and not connected."""
    access: ChannelsInputSlackAccess
    """Fields that are left out have their defaults: `pairing`, and groups by mention."""


class ChannelsInput(TypedDict, total=False):
    """By channel, each as the body of its PUT; `email` is another name for `gmail`. Credentials are verified
    before the agent is made.
    """

    slack: ChannelsInputSlack
    discord: ChannelsInputDiscord
    telegram: ChannelsInputTelegram
    whatsapp: ChannelsInputWhatsapp
    gmail: ChannelsInputWhatsapp
    email: ChannelsInputWhatsapp


class SpendLimitInput(TypedDict, total=False):
    daily_usd: str | None
    """Most in a day (UTC), in US dollars; null: no bound."""
    monthly_usd: str | None
    """Most in a month (UTC), in US dollars; null: no bound."""
    action: Required[Literal["block", "pause"]]
    """`block`: once it is reached, model calls are refused until the window ends. `pause`: the agent is put to
    sleep as well, and no message wakes it before.
    """


class CreateAgentEgress(TypedDict, total=False):
    """What the agent's machine may reach; given as a whole. Without `mode` it is `public`."""

    mode: Literal["public", "allowlist", "none"]
    """`public`: every public address. `allowlist`: what `allow` names and nothing else. `none`: nothing. The
    model broker is reached in each.
    """
    allow: Sequence[str]
    """Names, `*.name` for every name below one (of at least two parts), and public IPv4 addresses or blocks of
    /8 to /32. Only with `allowlist`. Kept in lower case and in ASCII, an address as a block.
    """


class CreateAgentPackages(TypedDict, total=False):
    """Packages that root installs in the agent's machine, for all its programs. It happens behind the reply:
    `settings_pending` is true until then. The lists are given as a whole: one that is left out is empty.
    """

    apt: Sequence[str]
    """Packages of Debian's, each with an optional version: `<name>` or `<name>=<version>`."""
    pip: Sequence[str]
    """Python packages: `<name>` or `<name>==<version>`."""
    npm: Sequence[str]
    """npm packages, for their commands: `<name>` or `<name>@<version>`."""


class CreateAgentConfirmationsRule(TypedDict, total=False):
    on: Required[str]
    """`connection:<name>`, `tool:<name>` for a tool of Lodge, `messages`, `schedules`, `packages` or `command`."""
    match: str
    """A pattern with `*` for any characters. For an `http` connection it is about the method and the path,
    without the query; for an `mcp` connection about the name of the tool; for a tool of Lodge about its name
    or the JSON of its arguments. A rule that restricts ignores case, and a slash at the end.
    """
    policy: Required[Literal["allow", "ask", "deny"]]
    """`ask`: the call waits for a yes."""


class CreateAgentConfirmationsDeliverItem(TypedDict, total=False):
    channel: Required[Literal["slack", "discord", "telegram", "whatsapp", "gmail", "email"]]
    conversation: Required[str]
    """The id of a conversation that wrote to the agent there."""


class CreateAgentConfirmations(TypedDict, total=False):
    """Rules about the calls of the agent that need a yes, given as a whole. In effect with the next call."""

    rules: Required[Sequence[CreateAgentConfirmationsRule]]
    """The first one that fits counts."""
    default: Literal["allow", "ask", "deny"]
    """The policy for every other call by a connection, and for tools of Lodge that change something."""
    deliver: Sequence[CreateAgentConfirmationsDeliverItem]
    """Conversations in which the owner is asked."""
    deciders: Sequence[str]
    """Ids of senders on channels who may decide there, each alone or behind the name of its channel. Nobody else
    can.
    """
    expires: str
    """Time until an undecided confirmation is closed, of 5 minutes to 30 days."""


class CreateAgentSnapshots(TypedDict, total=False):
    """When snapshots of the agent are made by themselves, and how long those are kept. Replaces the plan as a
    whole: what is left out has its default, and by default none are made.
    """

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


class UpdateAgentLlmKey(TypedDict, total=False):
    provider: Required[str]
    """An id of `GET /v1/providers`."""
    api_key: Required[str | None]
    """The provider's secret, which replaces the one there is; null removes it."""


class UpdateAgentLifecycle(TypedDict, total=False):
    """Fields that are left out stay as they are; null resets a field, or all of them."""

    idle_timeout_seconds: int | None
    """Idle for this long, a running agent is paused; 0 is never."""
    stop_after_seconds: int | None
    """Paused for this long, an agent is stopped."""
    keep_awake: Literal["auto", "always"] | None
    """`auto`: an idle agent sleeps. `always`: it does not."""
    auto_resume: bool | None
    """A request wakes a paused agent."""
    auto_start: bool | None
    """A request starts a stopped agent."""
    wake_on_message: bool | None
    """A message on a channel wakes the agent."""


FingerprintSecretsValue = TypedDict(
    "FingerprintSecretsValue",
    {
        "for": Required[Literal["llm_key", "channel", "connection", "hook"]],
        "value": Required[str],
    },
    total=False,
)


ListEventsType = Literal[
    "agent.operation_ended",
    "agent.provisioned",
    "agent.started",
    "agent.restarted",
    "agent.recovered",
    "agent.resumed",
    "agent.paused",
    "agent.pause_failed",
    "agent.stopped",
    "agent.stop_failed",
    "agent.start_failed",
    "agent.starting",
    "agent.restarting",
    "agent.gateway_unhealthy",
    "agent.crashed",
    "agent.resume_failed",
    "agent.error",
    "agent.upgrading",
    "agent.upgraded",
    "agent.upgrade_failed",
    "agent.restoring",
    "agent.restored",
    "agent.restore_undone",
    "agent.exported",
    "agent.export_failed",
    "agent.resized",
    "agent.resize_failed",
    "agent.settings_applied",
    "agent.packages_installed",
    "agent.packages_failed",
    "agent.skills_loaded",
    "agent.skills_failed",
    "agent.egress_applied",
    "agent.created",
    "agent.forked",
    "agent.imported",
    "agent.export_requested",
    "agent.updated",
    "agent.deleted",
    "agent.start_requested",
    "agent.resume_requested",
    "agent.pause_requested",
    "agent.stop_requested",
    "agent.restart_requested",
    "agent.upgrade_requested",
    "agent.restore_requested",
    "agent.member_created",
    "agent.member_updated",
    "agent.member_deleted",
    "agent.port_published",
    "agent.port_unpublished",
    "api_key.created",
    "api_key.revoked",
    "oauth.granted",
    "oauth.revoked",
    "oauth.reuse_detected",
    "account.updated",
    "account.spend_limit_set",
    "webhook.created",
    "webhook.updated",
    "webhook.removed",
    "webhook.disabled",
    "session.created",
    "session.ended",
    "sessions.ended",
    "password.changed",
    "password.reset",
    "totp.enabled",
    "totp.removed",
    "invitation.created",
    "invitation.accepted",
    "invitation.ended",
    "usage.limit_warning",
    "usage.limit_reached",
    "channel.configured",
    "channel.removed",
    "channel.restarted",
    "channel.sender_decided",
    "channel.connected",
    "channel.disconnected",
    "channel.pairing_required",
    "channel.access_requested",
    "message.received",
    "message.retried",
    "message.answered",
    "message.failed",
    "schedule.created",
    "schedule.updated",
    "schedule.deleted",
    "schedule.run_asked",
    "schedule.ran",
    "schedule.failed",
    "schedule.missed",
    "hook.created",
    "hook.removed",
    "hook.received",
    "hook.answered",
    "hook.failed",
    "hook.skipped",
    "connection.put",
    "connection.removed",
    "connection.connected",
    "connection.consent_needed",
    "connection.answer_refused",
    "confirmation.requested",
    "confirmation.decided",
    "confirmation.expired",
    "confirmation.done",
    "skill.created",
    "skill.version_added",
    "skill.deleted",
    "agent.skill_put",
    "agent.skill_removed",
    "browser.control_taken",
    "browser.control_released",
    "snapshot.created",
    "snapshot.failed",
    "snapshot.updated",
    "snapshot.deleted",
    "snapshot.damaged",
]


class AgentChatStreamOptions(TypedDict, total=False):
    """Options of an answer that streams."""

    include_usage: bool | None
    """OpenAI's: a last chunk has the usage."""
    include_steps: bool | None
    """Further chunks, without choices, tell what tools the agent works with (`step`)."""


PutConnectionSecretsValue = TypedDict(
    "PutConnectionSecretsValue",
    {
        "value": Required[str],
        "in": Required[Sequence[str]],
    },
    total=False,
)


class ConnectionAllow(TypedDict, total=False):
    methods: Required[Sequence[Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]]]
    paths: Required[Sequence[str]]
    """Below the connection's `url`, or the hosts: whole paths, or `/…/*` for all that is below one."""


class PutConnectionAuth(TypedDict, total=False):
    """Access by OAuth, with a consent that begins at `…/oauth/start`. A server of `mcp` names its authorization
    server; for `http` and `host` you name it, and give a client. Left out, what is stored stays; null takes
    it away. Another `url`, a further host, another client, authorization server or scope needs another
    consent.
    """

    kind: Required[Literal["oauth"]]
    client_id: str | None
    """A client that you made at the authorization server, which `http` and `host` need; null: one is registered
    with each consent.
    """
    client_secret: str | None
    """The client's secret, never given back. Left out, the stored one of the same client stays."""
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
    client_auth: Literal["client_secret_basic", "client_secret_post"] | None
    """For `http` and `host`: how the client shows its secret, in a header or in the body; null: in a header."""


class AddSkillGit(TypedDict, total=False):
    url: Required[str]
    """The address of the repository, by https. Private addresses are refused unless the operator allows them."""
    ref: str
    """A branch, a tag or a whole commit; by default the repository's own branch."""
    path: str
    """The skill's folder; by default the repository itself."""


class AddSkillHub(TypedDict, total=False):
    name: Required[Literal["clawhub", "skills.sh"]]
    slug: Required[str]
    """ClawHub: `slug` or `owner/slug`. skills.sh: `owner/repository/skill`."""
    version: str
    """By default the latest. skills.sh has the latest alone."""


class CreateScheduleDeliver(TypedDict, total=False):
    to: Required[Literal["none", "channel", "webhook"]]
    """`none`: the answer stays in the run. `channel`: it is said in a conversation. `webhook`: the event
    `schedule.ran` has it.
    """
    channel: Literal["slack", "discord", "telegram", "whatsapp", "gmail", "email"]
    """With `to: "channel"`."""
    conversation: str
    """With `to: "channel"`: the id of a conversation that wrote to the agent there, as `GET
    /v1/agents/:id/messages` shows it.
    """


class CreateHookDeliver(TypedDict, total=False):
    to: Required[Literal["none", "channel", "webhook"]]
    """`none`: a line of it is in the agent's log. `channel`: it is said in a conversation. `webhook`: the event
    `hook.answered` has it.
    """
    channel: Literal["slack", "discord", "telegram", "whatsapp", "gmail", "email"]
    """With `to: "channel"`."""
    conversation: str
    """With `to: "channel"`: the id of a conversation that wrote to the agent there, as `GET
    /v1/agents/:id/messages` shows it.
    """


class CreateHookSignature(TypedDict, total=False):
    type: Required[Literal["github", "stripe", "standard", "hmac"]]
    """`github`: `X-Hub-Signature-256`. `stripe`: `Stripe-Signature`, at most 5 minutes old. `standard`: Standard
    Webhooks. `hmac`: HMAC-SHA256 of the body in a header of your own.
    """
    secret: Required[str]
    """What the sender signs with. Kept encrypted, never given back."""
    header: str
    """With type `hmac`: the header of the signature."""
    encoding: Literal["hex", "base64"]
    """With type `hmac`."""
    prefix: str
    """With type `hmac`: what stands before the signature, such as `sha256=`."""
