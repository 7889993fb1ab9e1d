"""The methods that are one request each.

`node scripts/docs.ts` writes this file from docs/reference/openapi.json.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

from .. import params
from .._events import ExecEvent, ResponseEvent, chat_chunk, exec_event, lodge_event, log_entry, response_event
from .._types import NOT_GIVEN, Call, NotGiven, RequestOptions, segment, silence
from ..models import (
    Account,
    AccountLink,
    AccountOptions,
    AccountSpend,
    Agent,
    AgentFile,
    AgentMember,
    AgentResponse,
    AgentSkill,
    AgentSkillRemoved,
    ApiKey,
    ApiKeyList,
    Approval,
    AuditEvent,
    AuthorizationAnswer,
    AuthorizationRequest,
    Browser,
    Channel,
    ChannelMessage,
    ChannelTest,
    ChatCompletion,
    ChatCompletionChunk,
    Confirmation,
    Connection,
    ConnectionAllow,
    ConnectionOAuthSession,
    CreatedApiKey,
    CreatedHook,
    CreatedInvitation,
    DeletedAgent,
    DeletedChannel,
    DeletedConnection,
    DeletedHook,
    DeletedMember,
    DeletedPort,
    DeletedSchedule,
    DeletedSnapshot,
    DeviceAuthorization,
    DeviceRequest,
    ExecResult,
    Fingerprint,
    Fork,
    Grant,
    GrantList,
    Health,
    Hook,
    HookMessage,
    Host,
    InvitationList,
    Limits,
    Link,
    LlmCall,
    LlmCallDetail,
    LlmKeyCheck,
    LodgeEvent,
    LogEntry,
    ModelList,
    OAuthClient,
    OAuthSession,
    Pairing,
    PersonList,
    Port,
    Provider,
    RecoveryCodes,
    Schedule,
    ScheduleRun,
    SessionBody,
    SessionList,
    Size,
    Skill,
    SkillDeleted,
    SkillVersion,
    Snapshot,
    SnapshotDiff,
    Token,
    TotpBegun,
    Upload,
    UploadDeleted,
    Usage,
    Webhook,
    WebhookDeleted,
    WebhookDelivery,
    WebhookWithSecret,
)
from .client import Resource
from .pages import Pages
from .streams import Stream


class AgentsOperations(Resource):
    def create(
        self,
        *,
        name: str,
        wait: bool | NotGiven = NOT_GIVEN,
        verify: bool | NotGiven = NOT_GIVEN,
        model: str | NotGiven = NOT_GIVEN,
        description: str | None | NotGiven = NOT_GIVEN,
        llm_keys: Sequence[params.CreateAgentLlmKey] | NotGiven = NOT_GIVEN,
        check_keys: bool | NotGiven = NOT_GIVEN,
        runtime_kind: Literal["runtime_a", "runtime_b", "openclaw", "hermes"] | NotGiven = NOT_GIVEN,
        from_: params.CreateAgentFrom | NotGiven = NOT_GIVEN,
        size: Literal["small", "medium", "large", "xlarge"] | NotGiven = NOT_GIVEN,
        machine_size: Literal["small", "medium", "large", "xlarge"] | NotGiven = NOT_GIVEN,
        lifecycle: params.CreateAgentLifecycle | NotGiven = NOT_GIVEN,
        labels: Mapping[str, str] | NotGiven = NOT_GIVEN,
        metadata: Mapping[str, str] | NotGiven = NOT_GIVEN,
        channels: params.ChannelsInput | NotGiven = NOT_GIVEN,
        spend_limit: params.SpendLimitInput | None | NotGiven = NOT_GIVEN,
        egress: params.CreateAgentEgress | None | NotGiven = NOT_GIVEN,
        env: Mapping[str, str] | None | NotGiven = NOT_GIVEN,
        packages: params.CreateAgentPackages | None | NotGiven = NOT_GIVEN,
        confirmations: params.CreateAgentConfirmations | None | NotGiven = NOT_GIVEN,
        models: Sequence[str] | None | NotGiven = NOT_GIVEN,
        peers: Sequence[str] | None | NotGiven = NOT_GIVEN,
        snapshots: params.CreateAgentSnapshots | None | NotGiven = NOT_GIVEN,
        instructions: str | None | NotGiven = NOT_GIVEN,
        dashboard: bool | NotGiven = NOT_GIVEN,
        browser: bool | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> Agent:
        """Create an agent.

        Provisioning starts at once, and the reply comes when the agent runs. When that takes longer than the
        create wait (60 s unless set otherwise), or with `Prefer: respond-async` or `?wait=false`, it is 202
        with the agent in `provisioning`: poll the agent then.

        Scope: `agents:write`.

        Args:
            name: Display name, 1 to 100 characters after trimming.
            wait: `false`: answer 202 at once, with what is so then. Wins over the header Prefer where both
                are sent.
            verify: `false`: no platform is asked whether new credentials are good.
            model: `<provider>/<model_name>` for runtime_a; bare `<model_name>` for runtime_b, whose provider
                is that of its keys. Without it the deployment chooses.
            description: Free text; only a label.
            llm_keys: Keys of LLM providers, one per provider.
            check_keys: True: each key is checked first, and one that its provider does not accept is a 400.
                One that cannot be checked is taken.
            runtime_kind: `openclaw` is another name for `runtime_a`, `hermes` for `runtime_b`.
            from_: Begins from a snapshot instead of the template: the machine, with its files and
                conversations, is that of the snapshot, and every setting is that of this request.
                `runtime_kind` is that of the snapshot, and `size` is not smaller; both are taken from it
                where they are left out.
            size: Machine size.
            machine_size: Another name for `size`.
            lifecycle: Fields that are left out keep their defaults.
            labels: Up to 50 short pairs to select by: `label[team]=support` in a list. Notes of your own are
                `metadata`.
            metadata: Up to 50 pairs of strings: your own notes. What lists are to select by are `labels`.
            egress: What the agent's machine may reach; given as a whole. Without `mode` it is `public`.
            env: Plain variables of the commands, terminals and tools in the agent’s machine, by name. The
                agent reads them: secrets belong in connections. Names that change how programs are found,
                loaded or trusted are refused.
            packages: Packages that root installs in the agent's machine, for all its programs. It happens
                behind the reply: `settings_pending` is true until then. The lists are given as a whole: one
                that is left out is empty.
            confirmations: Rules about the calls of the agent that need a yes, given as a whole. In effect
                with the next call.
            models: Models that the agent may call beside its own and its members', each as
                `<provider>/<model_name>` whatever its runtime. Null: any of the providers that it has a key
                for; under a spend limit, any with a known price.
            peers: Ids of agents of the account that it may ask with its tool `ask_agent`; `*` for all. None
                by default.
            snapshots: When snapshots of the agent are made by themselves, and how long those are kept.
                Replaces the plan as a whole: what is left out has its default, and by default none are made.
            instructions: Who it is and how it works, up to 32 KB of UTF-8; put where its runtime reads its
                identity. Null, or nothing but white space: none.
            dashboard: For runtime_b alone.
            browser: Whether it has a browser in its machine. It needs room: runtime_a from the size `medium`
                on, runtime_b from the size `small` on.
        """
        return self._client.call(
            Agent,
            Call(
                "POST",
                "/agents",
                query={"wait": wait, "verify": verify},
                body={
                    "name": name,
                    "model": model,
                    "description": description,
                    "llm_keys": llm_keys,
                    "check_keys": check_keys,
                    "runtime_kind": runtime_kind,
                    "from": from_,
                    "size": size,
                    "machine_size": machine_size,
                    "lifecycle": lifecycle,
                    "labels": labels,
                    "metadata": metadata,
                    "channels": channels,
                    "spend_limit": spend_limit,
                    "egress": egress,
                    "env": env,
                    "packages": packages,
                    "confirmations": confirmations,
                    "models": models,
                    "peers": peers,
                    "snapshots": snapshots,
                    "instructions": instructions,
                    "dashboard": dashboard,
                    "browser": browser,
                },
                keyed=True,
                patience=150,
            ),
            options,
        )

    def list(
        self,
        *,
        limit: int | NotGiven = NOT_GIVEN,
        cursor: str | NotGiven = NOT_GIVEN,
        status: Literal["provisioning", "running", "paused", "stopped", "error"] | NotGiven = NOT_GIVEN,
        runtime_kind: Literal["runtime_a", "runtime_b", "openclaw", "hermes"] | NotGiven = NOT_GIVEN,
        name: str | NotGiven = NOT_GIVEN,
        label: Mapping[str, str] | NotGiven = NOT_GIVEN,
        has_label: str | NotGiven = NOT_GIVEN,
        metadata: Mapping[str, str] | NotGiven = NOT_GIVEN,
        order: Literal["asc", "desc"] | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> Pages[Agent]:
        """List agents.

        Scope: `agents:read`.

        Args:
            limit: Agents per page.
            cursor: `next_cursor` of the page before.
            status: Only agents in this status.
            runtime_kind: `openclaw` is another name for `runtime_a`, `hermes` for `runtime_b`.
            name: Only agents whose name contains this, in any case.
            label: Only agents with these labels, all of them: `label[team]=support&label[env]=prod`.
            has_label: Only agents that have a label of this key, whatever its value.
            metadata: Only agents with these pairs: `metadata[team]=support`.
            order: By time of creation; newest first by default.
        """
        return self._client.pages(
            Agent,
            Call(
                "GET",
                "/agents",
                query={
                    "limit": limit,
                    "cursor": cursor,
                    "status": status,
                    "runtime_kind": runtime_kind,
                    "name": name,
                    "label": label,
                    "has_label": has_label,
                    "metadata": metadata,
                    "order": order,
                },
            ),
            options,
        )

    def get(
        self,
        agent_id: str,
        *,
        wait_for: Literal["running", "paused", "stopped"] | NotGiven = NOT_GIVEN,
        timeout: int | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> Agent:
        """Read an agent.

        Scope: `agents:read`.

        Args:
            agent_id: The agent's id.
            wait_for: Answer once the agent is in this status or in `error`, or `timeout` has passed.
            timeout: Seconds; only with `wait_for`.
        """
        return self._client.call(
            Agent,
            Call(
                "GET",
                f"/agents/{segment(agent_id)}",
                query={"wait_for": wait_for, "timeout": timeout},
                patience=silence(timeout, 30),
            ),
            options,
        )

    def update(
        self,
        agent_id: str,
        *,
        if_match: str | NotGiven = NOT_GIVEN,
        name: str | NotGiven = NOT_GIVEN,
        model: str | None | NotGiven = NOT_GIVEN,
        description: str | None | NotGiven = NOT_GIVEN,
        llm_keys: Sequence[params.UpdateAgentLlmKey] | None | NotGiven = NOT_GIVEN,
        size: Literal["small", "medium", "large", "xlarge"] | None | NotGiven = NOT_GIVEN,
        machine_size: Literal["small", "medium", "large", "xlarge"] | None | NotGiven = NOT_GIVEN,
        lifecycle: params.UpdateAgentLifecycle | None | NotGiven = NOT_GIVEN,
        labels: Mapping[str, str | None] | None | NotGiven = NOT_GIVEN,
        metadata: Mapping[str, str | None] | None | NotGiven = NOT_GIVEN,
        spend_limit: params.SpendLimitInput | None | NotGiven = NOT_GIVEN,
        env: Mapping[str, str] | None | NotGiven = NOT_GIVEN,
        packages: params.CreateAgentPackages | None | NotGiven = NOT_GIVEN,
        confirmations: params.CreateAgentConfirmations | None | NotGiven = NOT_GIVEN,
        egress: params.CreateAgentEgress | None | NotGiven = NOT_GIVEN,
        models: Sequence[str] | None | NotGiven = NOT_GIVEN,
        peers: Sequence[str] | None | NotGiven = NOT_GIVEN,
        snapshots: params.CreateAgentSnapshots | None | NotGiven = NOT_GIVEN,
        instructions: str | None | NotGiven = NOT_GIVEN,
        browser: bool | None | NotGiven = NOT_GIVEN,
        dashboard: bool | None | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> Agent:
        """Change an agent.

        Only what is given changes; null resets a field to its default. Model, keys and lifecycle are in
        effect at once, without a restart; so are instructions, egress and variables, for which the reply
        waits a bounded time: `settings_pending` says whether they are. Packages are installed behind the
        reply. Connections that new egress rules do not allow end. A size that the running machine cannot take
        is taken with the next start: until then `machine` differs from `size`.

        Scope: `agents:write`.

        Args:
            agent_id: The agent's id.
            if_match: ETag of the record the change is meant for: if it has changed since, nothing is done and
                412 says so.
            name: Display name, 1 to 100 characters after trimming.
            model: `<provider>/<model_name>` for runtime_a, bare `<model_name>` for runtime_b; null: the
                deployment chooses.
            description: Free text; only a label.
            llm_keys: Keys to set or, with null, to remove; those of other providers stay. Null removes all.
            size: Taken by the running machine where it can be; else with the next start. Null: `medium`.
            machine_size: Another name for `size`.
            lifecycle: Fields that are left out stay as they are; null resets a field, or all of them.
            labels: Pairs to set or, with null, to remove; others stay. Null removes all.
            metadata: Pairs to set or, with null, to remove; others stay. Null removes all.
            env: Replaces all variables; null: none.
            packages: Replaces all three lists; what is no longer in one is removed. Null: none.
            confirmations: Replaces the rules as a whole, in effect with the next call; null: every call is
                allowed.
            egress: Replaces the rules as a whole; null: every public address.
            models: Models that the agent may call beside its own and its members', each as
                `<provider>/<model_name>` whatever its runtime. Null: any of the providers that it has a key
                for; under a spend limit, any with a known price. Replaces the list.
            peers: Ids of agents of the account that it may ask with its tool `ask_agent`; `*` for all.
                Replaces the list; null: none.
            snapshots: Replaces the plan as a whole: what is left out has its default. Null: no snapshots are
                made by themselves.
            instructions: Who it is and how it works, up to 32 KB of UTF-8; put where its runtime reads its
                identity. Null, or nothing but white space: none.
            browser: Whether it has a browser in its machine. It needs room: runtime_a from the size `medium`
                on, runtime_b from the size `small` on.
            dashboard: For runtime_b alone.
        """
        return self._client.call(
            Agent,
            Call(
                "PATCH",
                f"/agents/{segment(agent_id)}",
                headers={"if-match": if_match},
                body={
                    "name": name,
                    "model": model,
                    "description": description,
                    "llm_keys": llm_keys,
                    "size": size,
                    "machine_size": machine_size,
                    "lifecycle": lifecycle,
                    "labels": labels,
                    "metadata": metadata,
                    "spend_limit": spend_limit,
                    "env": env,
                    "packages": packages,
                    "confirmations": confirmations,
                    "egress": egress,
                    "models": models,
                    "peers": peers,
                    "snapshots": snapshots,
                    "instructions": instructions,
                    "browser": browser,
                    "dashboard": dashboard,
                },
            ),
            options,
        )

    def delete(
        self,
        agent_id: str,
        *,
        wait: bool | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> DeletedAgent:
        """Delete an agent.

        In any status; while it is being provisioned, that is cancelled. Its disk and its keys are gone for
        good.

        Scope: `agents:delete`.

        Args:
            agent_id: The agent's id.
            wait: `false`: answer 202 at once, with what is so then. Wins over the header Prefer where both
                are sent.
        """
        return self._client.call(
            DeletedAgent,
            Call(
                "DELETE",
                f"/agents/{segment(agent_id)}",
                query={"wait": wait},
                patience=150,
            ),
            options,
        )

    def start(
        self,
        agent_id: str,
        *,
        wait: bool | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> Agent:
        """Start an agent.

        A paused agent goes on, a stopped one comes back from its snapshot, one in `error` is booted from its
        disk. Nothing to do when it runs.

        The reply comes when that is done: 200. When it takes longer than the lifecycle wait (60 s unless set
        otherwise), or with `Prefer: respond-async` or `?wait=false`, it is 202 with the record as it is, its
        `transition` set: poll the agent then. The same request again joins what is under way.

        Scope: `agents:write`.

        Args:
            agent_id: The agent's id.
            wait: `false`: answer 202 at once, with what is so then. Wins over the header Prefer where both
                are sent.
        """
        return self._client.call(
            Agent,
            Call(
                "POST",
                f"/agents/{segment(agent_id)}/start",
                query={"wait": wait},
                body={},
                keyed=True,
                patience=150,
            ),
            options,
        )

    def resume(
        self,
        agent_id: str,
        *,
        wait: bool | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> Agent:
        """Resume an agent.

        As start, but not from `error`. The memory of its size must be free to be promised; agents that were
        paused longer are stopped for it.

        The reply comes when that is done: 200. When it takes longer than the lifecycle wait (60 s unless set
        otherwise), or with `Prefer: respond-async` or `?wait=false`, it is 202 with the record as it is, its
        `transition` set: poll the agent then. The same request again joins what is under way.

        Scope: `agents:write`.

        Args:
            agent_id: The agent's id.
            wait: `false`: answer 202 at once, with what is so then. Wins over the header Prefer where both
                are sent.
        """
        return self._client.call(
            Agent,
            Call(
                "POST",
                f"/agents/{segment(agent_id)}/resume",
                query={"wait": wait},
                body={},
                keyed=True,
                patience=150,
            ),
            options,
        )

    def pause(
        self,
        agent_id: str,
        *,
        wait: bool | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> Agent:
        """Pause an agent.

        The machine's CPUs are frozen; its memory stays. Nothing to do when it is paused. While it is paused
        the deployment counts only the memory that it holds, and it needs room again to go on. A paused agent
        resumes by itself with the next request that needs it, unless `lifecycle.auto_resume` is false.

        The reply comes when that is done: 200. When it takes longer than the lifecycle wait (60 s unless set
        otherwise), or with `Prefer: respond-async` or `?wait=false`, it is 202 with the record as it is, its
        `transition` set: poll the agent then. The same request again joins what is under way.

        Scope: `agents:write`.

        Args:
            agent_id: The agent's id.
            wait: `false`: answer 202 at once, with what is so then. Wins over the header Prefer where both
                are sent.
        """
        return self._client.call(
            Agent,
            Call(
                "POST",
                f"/agents/{segment(agent_id)}/pause",
                query={"wait": wait},
                body={},
                keyed=True,
                patience=150,
            ),
            options,
        )

    def stop(
        self,
        agent_id: str,
        *,
        wait: bool | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> Agent:
        """Stop an agent.

        The turn in hand ends (within a bound), memory and disk are saved, and the machine is given up.
        Nothing to do when it is stopped. An agent whose snapshot fails goes on running. From `error` it goes
        to `stopped` with its disk alone.

        The reply comes when that is done: 200. When it takes longer than the lifecycle wait (60 s unless set
        otherwise), or with `Prefer: respond-async` or `?wait=false`, it is 202 with the record as it is, its
        `transition` set: poll the agent then. The same request again joins what is under way.

        Scope: `agents:write`.

        Args:
            agent_id: The agent's id.
            wait: `false`: answer 202 at once, with what is so then. Wins over the header Prefer where both
                are sent.
        """
        return self._client.call(
            Agent,
            Call(
                "POST",
                f"/agents/{segment(agent_id)}/stop",
                query={"wait": wait},
                body={},
                keyed=True,
                patience=150,
            ),
            options,
        )

    def restart(
        self,
        agent_id: str,
        *,
        wait: bool | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> Agent:
        """Restart an agent.

        The machine is ended in good order and booted from its disk. A stopped agent is started, not
        restarted.

        The reply comes when that is done: 200. When it takes longer than the lifecycle wait (60 s unless set
        otherwise), or with `Prefer: respond-async` or `?wait=false`, it is 202 with the record as it is, its
        `transition` set: poll the agent then. The same request again joins what is under way.

        Scope: `agents:write`.

        Args:
            agent_id: The agent's id.
            wait: `false`: answer 202 at once, with what is so then. Wins over the header Prefer where both
                are sent.
        """
        return self._client.call(
            Agent,
            Call(
                "POST",
                f"/agents/{segment(agent_id)}/restart",
                query={"wait": wait},
                body={},
                keyed=True,
                patience=150,
            ),
            options,
        )

    def upgrade(
        self,
        agent_id: str,
        *,
        wait: bool | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> Agent:
        """Move an agent to the newest image.

        The agent is stopped, its machine is kept aside as it is, and another is made from the newest image
        with the files of its home and workspace. When that one runs and its gateway answers, the old one is
        freed; when it does not, the old one comes back by itself, with its memory, and the reply is a 500
        that says why. The host needs room for both disks meanwhile. Nothing to do when the agent is on the
        newest image already (`upgrade_available` is false). A stopped agent is started first.

        The reply comes when that is done: 200. When it takes longer than the lifecycle wait (60 s unless set
        otherwise), or with `Prefer: respond-async` or `?wait=false`, it is 202 with the record as it is, its
        `transition` set: poll the agent then. The same request again joins what is under way.

        Scope: `agents:write`.

        Args:
            agent_id: The agent's id.
            wait: `false`: answer 202 at once, with what is so then. Wins over the header Prefer where both
                are sent.
        """
        return self._client.call(
            Agent,
            Call(
                "POST",
                f"/agents/{segment(agent_id)}/upgrade",
                query={"wait": wait},
                body={},
                keyed=True,
                patience=150,
            ),
            options,
        )

    def check_llm_keys(
        self,
        agent_id: str,
        *,
        options: RequestOptions | None = None,
    ) -> Pages[LlmKeyCheck]:
        """Check an agent's LLM keys.

        Asks the provider of each key whether it works, by a request that costs nothing, and says so in one
        sentence. Takes up to ten seconds; the agent need not run. A create checks its keys with `check_keys:
        true`.

        Scope: `agents:write`.

        Args:
            agent_id: The agent's id.
        """
        return self._client.pages(
            LlmKeyCheck,
            Call("POST", f"/agents/{segment(agent_id)}/llm_keys/check", body={}, keyed=True),
            options,
        )

    def logs(
        self,
        agent_id: str,
        *,
        limit: int | NotGiven = NOT_GIVEN,
        cursor: str | NotGiven = NOT_GIVEN,
        direction: Literal["desc", "asc"] | NotGiven = NOT_GIVEN,
        since: datetime | str | NotGiven = NOT_GIVEN,
        until: datetime | str | NotGiven = NOT_GIVEN,
        level: Literal["debug", "info", "warn", "error"] | NotGiven = NOT_GIVEN,
        source: Literal["system", "console", "gateway", "channel", "egress"] | NotGiven = NOT_GIVEN,
        search: str | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> Pages[LogEntry]:
        """Read an agent's log.

        In every status. Newest entries first; `direction=asc` reads oldest first. With `follow=true` the
        reply is `text/event-stream`, oldest first: an event per entry, its `id` the entry's and its `data`
        the entry as JSON; comments while there is nothing to tell. It ends with the API key. Reconnect with
        `Last-Event-ID` and nothing is missed or told twice. Old entries are removed: how many and how long
        they are kept is a setting of the deployment.

        Scope: `agents:read`.

        Args:
            agent_id: The agent's id.
            limit: Entries per page. With `follow`: how many of the newest come first.
            cursor: `next_cursor` of the page before; it holds for this agent and its direction.
            direction: Newest entries first by default, oldest first with `asc`; with `follow` always `asc`.
            since: Only entries of this time or later.
            until: Only entries before this time.
            level: Only entries of this level or a more severe one.
            source: Only entries of this source.
            search: Only entries whose message contains this, in any case.
        """
        return self._client.pages(
            LogEntry,
            Call(
                "GET",
                f"/agents/{segment(agent_id)}/logs",
                query={
                    "limit": limit,
                    "cursor": cursor,
                    "direction": direction,
                    "since": since,
                    "until": until,
                    "level": level,
                    "source": source,
                    "search": search,
                },
            ),
            options,
        )

    def follow_logs(
        self,
        agent_id: str,
        *,
        limit: int | NotGiven = NOT_GIVEN,
        since: datetime | str | NotGiven = NOT_GIVEN,
        level: Literal["debug", "info", "warn", "error"] | NotGiven = NOT_GIVEN,
        source: Literal["system", "console", "gateway", "channel", "egress"] | NotGiven = NOT_GIVEN,
        search: str | NotGiven = NOT_GIVEN,
        last_event_id: str | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> Stream[LogEntry]:
        """Read an agent's log.

        In every status. Newest entries first; `direction=asc` reads oldest first. With `follow=true` the
        reply is `text/event-stream`, oldest first: an event per entry, its `id` the entry's and its `data`
        the entry as JSON; comments while there is nothing to tell. It ends with the API key. Reconnect with
        `Last-Event-ID` and nothing is missed or told twice. Old entries are removed: how many and how long
        they are kept is a setting of the deployment.

        Scope: `agents:read`.

        As an iterator, oldest first, that goes on where it was after a cut.

        Args:
            agent_id: The agent's id.
            limit: Entries per page. With `follow`: how many of the newest come first.
            since: Only entries of this time or later.
            level: Only entries of this level or a more severe one.
            source: Only entries of this source.
            search: Only entries whose message contains this, in any case.
            last_event_id: Id of the last entry that was seen: those behind it come, and nothing else.
        """
        return self._client.follow(
            log_entry,
            Call(
                "GET",
                f"/agents/{segment(agent_id)}/logs",
                query={"limit": limit, "since": since, "level": level, "source": source, "search": search},
                headers={"last-event-id": last_event_id},
            ),
            options,
        )

    def fork(
        self,
        agent_id: str,
        *,
        wait: bool | NotGiven = NOT_GIVEN,
        name: str | NotGiven = NOT_GIVEN,
        count: int | NotGiven = NOT_GIVEN,
        snapshot: str | NotGiven = NOT_GIVEN,
        include: Sequence[Literal["schedules", "connections", "ports", "browser"]] | NotGiven = NOT_GIVEN,
        llm_keys: Literal["copy", "none"] | NotGiven = NOT_GIVEN,
        model: str | None | NotGiven = NOT_GIVEN,
        description: str | None | NotGiven = NOT_GIVEN,
        size: Literal["small", "medium", "large", "xlarge"] | None | NotGiven = NOT_GIVEN,
        machine_size: Literal["small", "medium", "large", "xlarge"] | None | NotGiven = NOT_GIVEN,
        lifecycle: params.UpdateAgentLifecycle | None | NotGiven = NOT_GIVEN,
        labels: Mapping[str, str | None] | None | NotGiven = NOT_GIVEN,
        metadata: Mapping[str, str | None] | None | NotGiven = NOT_GIVEN,
        env: Mapping[str, str] | None | NotGiven = NOT_GIVEN,
        packages: params.CreateAgentPackages | None | NotGiven = NOT_GIVEN,
        egress: params.CreateAgentEgress | None | NotGiven = NOT_GIVEN,
        models: Sequence[str] | None | NotGiven = NOT_GIVEN,
        peers: Sequence[str] | None | NotGiven = NOT_GIVEN,
        snapshots: params.CreateAgentSnapshots | None | NotGiven = NOT_GIVEN,
        instructions: str | None | NotGiven = NOT_GIVEN,
        browser: bool | None | NotGiven = NOT_GIVEN,
        dashboard: bool | None | NotGiven = NOT_GIVEN,
        spend_limit: params.SpendLimitInput | None | NotGiven = NOT_GIVEN,
        confirmations: params.CreateAgentConfirmations | None | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> Fork:
        """Fork an agent.

        Makes agents that go on from where this one is, or was at a `snapshot` of it: with its memory, files,
        members, skills and settings, and with an id, an address and credentials of their own. It goes on
        itself, once its turn in hand has ended (within 30 s, else 409 `agent_busy`). Room and quotas are
        admitted for all of them or for none; from then on each stands alone. They get no channels, hooks,
        links and consents, and what `include` names only there. Their spend limit is a part of this one's.
        The next turn of each begins with a line that says which fork it is.

        The save is always waited for. The reply comes when the forks run: 201. When that takes longer than
        the create wait (60 s unless set otherwise), or with `Prefer: respond-async` or `?wait=false`, it is
        202 with forks in `provisioning`: poll these then.

        Scope: `agents:write`.

        Args:
            agent_id: The agent's id.
            wait: `false`: answer 202 at once, with what is so then. Wins over the header Prefer where both
                are sent.
            name: Display name; of several forks each has its number behind it. By default `<name of the
                parent> fork <number>`.
            count: How many forks are made.
            snapshot: A snapshot of the agent to begin from. Without it the agent is saved as it is.
            include: Further parts of the parent that the forks get: `schedules`, all disabled, with answers
                to no channel; `connections`, without what OAuth granted; published `ports`; the profile of
                its `browser`, with its logins. Nothing of these by default.
            llm_keys: Whether they get the parent's keys of LLM providers.
            model: `<provider>/<model_name>` for runtime_a, bare `<model_name>` for runtime_b; null: the
                deployment chooses.
            description: Free text; only a label.
            size: Taken by the running machine where it can be; else with the next start. Null: `medium`.
            machine_size: Another name for `size`.
            lifecycle: Fields that are left out stay as they are; null resets a field, or all of them.
            labels: Pairs to set or, with null, to remove; others stay. Null removes all.
            metadata: Pairs to set or, with null, to remove; others stay. Null removes all.
            env: Replaces all variables; null: none.
            packages: Replaces all three lists; what is no longer in one is removed. Null: none.
            egress: Replaces the rules as a whole; null: every public address.
            models: Models that the agent may call beside its own and its members', each as
                `<provider>/<model_name>` whatever its runtime. Null: any of the providers that it has a key
                for; under a spend limit, any with a known price. Replaces the list.
            peers: Ids of agents of the account that it may ask with its tool `ask_agent`; `*` for all.
                Replaces the list; null: none.
            snapshots: Replaces the plan as a whole: what is left out has its default. Null: no snapshots are
                made by themselves.
            instructions: Who it is and how it works, up to 32 KB of UTF-8; put where its runtime reads its
                identity. Null, or nothing but white space: none.
            browser: Whether it has a browser in its machine. It needs room: runtime_a from the size `medium`
                on, runtime_b from the size `small` on.
            dashboard: For runtime_b alone.
            confirmations: Replaces the parent's rules as a whole, with no `deliver`, as forks have no
                channels. Null: none.
        """
        return self._client.call(
            Fork,
            Call(
                "POST",
                f"/agents/{segment(agent_id)}/fork",
                query={"wait": wait},
                body={
                    "name": name,
                    "count": count,
                    "snapshot": snapshot,
                    "include": include,
                    "llm_keys": llm_keys,
                    "model": model,
                    "description": description,
                    "size": size,
                    "machine_size": machine_size,
                    "lifecycle": lifecycle,
                    "labels": labels,
                    "metadata": metadata,
                    "env": env,
                    "packages": packages,
                    "egress": egress,
                    "models": models,
                    "peers": peers,
                    "snapshots": snapshots,
                    "instructions": instructions,
                    "browser": browser,
                    "dashboard": dashboard,
                    "spend_limit": spend_limit,
                    "confirmations": confirmations,
                },
                keyed=True,
                patience=150,
            ),
            options,
        )


class SecretsOperations(Resource):
    def fingerprint(
        self,
        *,
        values: Sequence[params.FingerprintSecretsValue],
        options: RequestOptions | None = None,
    ) -> Pages[Fingerprint]:
        """Compute the fingerprints of secrets.

        For whoever has a secret and asks whether it is the stored one: where the fingerprints are equal, it
        is. Nothing is kept. The fingerprints of another account are other ones.

        Scope: `agents:write`.
        """
        return self._client.pages(
            Fingerprint,
            Call("POST", "/fingerprints", body={"values": values}, keyed=True),
            options,
        )


class UsageOperations(Resource):
    def get(
        self,
        *,
        starting_at: datetime | str | NotGiven = NOT_GIVEN,
        ending_at: datetime | str | NotGiven = NOT_GIVEN,
        bucket_width: Literal["1m", "1h", "1d", "all"] | NotGiven = NOT_GIVEN,
        group_by: Literal["agent", "model", "provider"] | NotGiven = NOT_GIVEN,
        time_zone: str | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> Usage:
        """Usage and cost of the account.

        What was used, in buckets of time, and what it cost. Figures are exact up to this moment; a model call
        counts at the moment it began, and is there once it is over. Deleted agents are counted for as long as
        they were.

        Scope: `usage:read`.

        Args:
            starting_at: Widened to the beginning of its bucket. By default an hour (`1m`), a day (`1h`) or 30
                days before `ending_at`.
            ending_at: Widened to the end of its bucket. Now by default.
            bucket_width: `all`: the whole range, in whole days, as one bucket. Up to 1500 buckets, and 10000
                with all groups.
            group_by: One record for each, in each bucket.
            time_zone: Whose days are meant with `1d` and `all`: a name of the IANA time zone database.
        """
        return self._client.call(
            Usage,
            Call(
                "GET",
                "/usage",
                query={
                    "starting_at": starting_at,
                    "ending_at": ending_at,
                    "bucket_width": bucket_width,
                    "group_by": group_by,
                    "time_zone": time_zone,
                },
            ),
            options,
        )

    def agent(
        self,
        agent_id: str,
        *,
        starting_at: datetime | str | NotGiven = NOT_GIVEN,
        ending_at: datetime | str | NotGiven = NOT_GIVEN,
        bucket_width: Literal["1m", "1h", "1d", "all"] | NotGiven = NOT_GIVEN,
        group_by: Literal["agent", "model", "provider"] | NotGiven = NOT_GIVEN,
        time_zone: str | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> Usage:
        """Usage and cost of an agent.

        What was used, in buckets of time, and what it cost. Figures are exact up to this moment; a model call
        counts at the moment it began, and is there once it is over. Deleted agents have theirs too.

        Scope: `usage:read`.

        Args:
            agent_id: The agent's id.
            starting_at: Widened to the beginning of its bucket. By default an hour (`1m`), a day (`1h`) or 30
                days before `ending_at`.
            ending_at: Widened to the end of its bucket. Now by default.
            bucket_width: `all`: the whole range, in whole days, as one bucket. Up to 1500 buckets, and 10000
                with all groups.
            group_by: One record for each, in each bucket.
            time_zone: Whose days are meant with `1d` and `all`: a name of the IANA time zone database.
        """
        return self._client.call(
            Usage,
            Call(
                "GET",
                f"/agents/{segment(agent_id)}/usage",
                query={
                    "starting_at": starting_at,
                    "ending_at": ending_at,
                    "bucket_width": bucket_width,
                    "group_by": group_by,
                    "time_zone": time_zone,
                },
            ),
            options,
        )


class LlmCallsOperations(Resource):
    def list(
        self,
        agent_id: str,
        *,
        limit: int | NotGiven = NOT_GIVEN,
        cursor: str | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> Pages[LlmCall]:
        """List an agent's model calls.

        Finished ones, newest first, each with its tokens, cost and time. Deleted agents have theirs too.

        Scope: `usage:read`.

        Args:
            agent_id: The agent's id.
            limit: Calls per page.
            cursor: `next_cursor` of the page before.
        """
        return self._client.pages(
            LlmCall,
            Call(
                "GET",
                f"/agents/{segment(agent_id)}/llm-calls",
                query={"limit": limit, "cursor": cursor},
            ),
            options,
        )

    def get(
        self,
        agent_id: str,
        call_id: str,
        *,
        options: RequestOptions | None = None,
    ) -> LlmCallDetail:
        """Read one of an agent's model calls.

        With what was said in it, where the account had its model calls recorded: `record_llm_calls` of the
        account, off by default. Provider keys are never in it.

        Scope: `usage:read`.

        Args:
            agent_id: The agent's id.
            call_id: The call's id.
        """
        return self._client.call(
            LlmCallDetail,
            Call("GET", f"/agents/{segment(agent_id)}/llm-calls/{segment(call_id)}"),
            options,
        )


class AuditEventsOperations(Resource):
    def list(
        self,
        *,
        limit: int | NotGiven = NOT_GIVEN,
        cursor: str | NotGiven = NOT_GIVEN,
        order: Literal["desc", "asc"] | NotGiven = NOT_GIVEN,
        action: str | NotGiven = NOT_GIVEN,
        actor_type: Literal["account", "api_key", "operator"] | NotGiven = NOT_GIVEN,
        actor_id: str | NotGiven = NOT_GIVEN,
        target_id: str | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> Pages[AuditEvent]:
        """List audit events.

        Who did what to which of the account's things, and from where.

        Scope: `agents:read`.

        Args:
            limit: Events per page.
            cursor: `next_cursor` of the page before, with the same `order` and filters.
            order: Newest first by default.
            action: Only this action, or a family such as `api_key.*`.
            actor_type: Only what such actors did.
            actor_id: Only what this account or API key did.
            target_id: Only what was done to this object, such as an agent.
        """
        return self._client.pages(
            AuditEvent,
            Call(
                "GET",
                "/audit-events",
                query={
                    "limit": limit,
                    "cursor": cursor,
                    "order": order,
                    "action": action,
                    "actor_type": actor_type,
                    "actor_id": actor_id,
                    "target_id": target_id,
                },
            ),
            options,
        )


class EventsOperations(Resource):
    def list(
        self,
        *,
        limit: int | NotGiven = NOT_GIVEN,
        cursor: str | NotGiven = NOT_GIVEN,
        direction: Literal["desc", "asc"] | NotGiven = NOT_GIVEN,
        type: params.ListEventsType | NotGiven = NOT_GIVEN,
        agent_id: str | NotGiven = NOT_GIVEN,
        since: datetime | str | NotGiven = NOT_GIVEN,
        until: datetime | str | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> Pages[LodgeEvent]:
        """Read or follow events.

        What happened to the account's agents, keys and limits. Newest first; `direction=asc` reads oldest
        first. With `follow=true`, or `Accept: text/event-stream`, the reply is a stream, oldest first: a
        server-sent event for each event, its `id` the event's and its `data` the event as JSON; comments
        while there is nothing to tell. It ends with the API key or session. Reconnect with `Last-Event-ID`
        and nothing is missed or told twice. Old events are removed: how many and how long they are kept is a
        setting of the deployment.

        Scope: `agents:read`.

        Args:
            limit: Events per page. With `follow`: how many of the newest come first.
            cursor: `next_cursor` of the page before; it holds for its direction.
            direction: Newest events first by default, oldest first with `asc`; with `follow` always `asc`.
            type: Only events of this type.
            agent_id: Only events of this agent.
            since: Only events of this time or later.
            until: Only events before this time.
        """
        return self._client.pages(
            LodgeEvent,
            Call(
                "GET",
                "/events",
                query={
                    "limit": limit,
                    "cursor": cursor,
                    "direction": direction,
                    "type": type,
                    "agent_id": agent_id,
                    "since": since,
                    "until": until,
                },
            ),
            options,
        )

    def follow(
        self,
        *,
        limit: int | NotGiven = NOT_GIVEN,
        type: params.ListEventsType | NotGiven = NOT_GIVEN,
        agent_id: str | NotGiven = NOT_GIVEN,
        since: datetime | str | NotGiven = NOT_GIVEN,
        last_event_id: str | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> Stream[LodgeEvent]:
        """Read or follow events.

        What happened to the account's agents, keys and limits. Newest first; `direction=asc` reads oldest
        first. With `follow=true`, or `Accept: text/event-stream`, the reply is a stream, oldest first: a
        server-sent event for each event, its `id` the event's and its `data` the event as JSON; comments
        while there is nothing to tell. It ends with the API key or session. Reconnect with `Last-Event-ID`
        and nothing is missed or told twice. Old events are removed: how many and how long they are kept is a
        setting of the deployment.

        Scope: `agents:read`.

        As an iterator, oldest first, that goes on where it was after a cut.

        Args:
            limit: Events per page. With `follow`: how many of the newest come first.
            type: Only events of this type.
            agent_id: Only events of this agent.
            since: Only events of this time or later.
            last_event_id: Id of the last entry that was seen: those behind it come, and nothing else.
        """
        return self._client.follow(
            lodge_event,
            Call(
                "GET",
                "/events",
                query={"limit": limit, "type": type, "agent_id": agent_id, "since": since},
                headers={"last-event-id": last_event_id},
            ),
            options,
        )


class ChatOperations(Resource):
    def create(
        self,
        agent_id: str,
        *,
        messages: Sequence[Mapping[str, Any]],
        wake: bool | NotGiven = NOT_GIVEN,
        stream_options: params.AgentChatStreamOptions | None | NotGiven = NOT_GIVEN,
        user: str | None | NotGiven = NOT_GIVEN,
        model: str | None | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
        **more: Any,
    ) -> ChatCompletion:
        """Talk to an agent.

        OpenAI's chat completions. With `stream: true` the reply is `text/event-stream`: OpenAI's chunks, then
        `[DONE]`; comments while the agent works, and `: waiting for a confirmation <id>` when a call of it
        begins to wait for its owner's yes; with `stream_options.include_steps`, chunks with `step` and no
        choices, one for the beginning and one for the end of each use of a tool; a failure in its midst is an
        event with `error`. The agent works with its own tools: a request's `tools` are not offered to its
        model. Closing the connection cancels the turn. A paused agent is resumed first; a stopped one answers
        409, unless `wake=true` or its `lifecycle.auto_start` says that it is to be started.

        Scope: `agents:write` or `agents:chat`.

        Args:
            agent_id: The agent's id.
            messages: OpenAI's messages. With `user` set, only the new message is needed.
            wake: `true`: a stopped agent is started first. A paused one is resumed in any case.
            stream_options: Options of an answer that streams.
            user: Names a conversation that the agent remembers. The header X-Conversation-Id does the same.
            model: `<agent id>/<member>` for a member; any other name means the agent that the path names.
        """
        return self._client.call(
            ChatCompletion,
            Call(
                "POST",
                f"/agents/{segment(agent_id)}/chat/completions",
                query={"wake": wake},
                body={
                    "messages": messages,
                    "stream_options": stream_options,
                    "user": user,
                    "model": model,
                    **more,
                },
                patience=1860,
            ),
            options,
        )

    def stream(
        self,
        agent_id: str,
        *,
        messages: Sequence[Mapping[str, Any]],
        wake: bool | NotGiven = NOT_GIVEN,
        stream_options: params.AgentChatStreamOptions | None | NotGiven = NOT_GIVEN,
        user: str | None | NotGiven = NOT_GIVEN,
        model: str | None | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
        **more: Any,
    ) -> Stream[ChatCompletionChunk]:
        """Talk to an agent.

        OpenAI's chat completions. With `stream: true` the reply is `text/event-stream`: OpenAI's chunks, then
        `[DONE]`; comments while the agent works, and `: waiting for a confirmation <id>` when a call of it
        begins to wait for its owner's yes; with `stream_options.include_steps`, chunks with `step` and no
        choices, one for the beginning and one for the end of each use of a tool; a failure in its midst is an
        event with `error`. The agent works with its own tools: a request's `tools` are not offered to its
        model. Closing the connection cancels the turn. A paused agent is resumed first; a stopped one answers
        409, unless `wake=true` or its `lifecycle.auto_start` says that it is to be started.

        Scope: `agents:write` or `agents:chat`.

        As an iterator of what comes. Leave it by `close`, or use it in a `with`: the server then stops.

        Args:
            agent_id: The agent's id.
            messages: OpenAI's messages. With `user` set, only the new message is needed.
            wake: `true`: a stopped agent is started first. A paused one is resumed in any case.
            stream_options: Options of an answer that streams.
            user: Names a conversation that the agent remembers. The header X-Conversation-Id does the same.
            model: `<agent id>/<member>` for a member; any other name means the agent that the path names.
        """
        return self._client.stream(
            chat_chunk,
            Call(
                "POST",
                f"/agents/{segment(agent_id)}/chat/completions",
                query={"wake": wake},
                body={
                    "messages": messages,
                    "stream_options": stream_options,
                    "user": user,
                    "model": model,
                    "stream": True,
                    **more,
                },
            ),
            options,
        )

    def completions(
        self,
        *,
        messages: Sequence[Mapping[str, Any]],
        model: str,
        wake: bool | NotGiven = NOT_GIVEN,
        stream_options: params.AgentChatStreamOptions | None | NotGiven = NOT_GIVEN,
        user: str | None | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
        **more: Any,
    ) -> ChatCompletion:
        """Talk to the agent that `model` names.

        OpenAI's chat completions. With `stream: true` the reply is `text/event-stream`: OpenAI's chunks, then
        `[DONE]`; comments while the agent works, and `: waiting for a confirmation <id>` when a call of it
        begins to wait for its owner's yes; with `stream_options.include_steps`, chunks with `step` and no
        choices, one for the beginning and one for the end of each use of a tool; a failure in its midst is an
        event with `error`. The agent works with its own tools: a request's `tools` are not offered to its
        model. Closing the connection cancels the turn. A paused agent is resumed first; a stopped one answers
        409, unless `wake=true` or its `lifecycle.auto_start` says that it is to be started.

        Scope: `agents:write` or `agents:chat`.

        Args:
            messages: OpenAI's messages. With `user` set, only the new message is needed.
            model: The agent's id, or `<agent id>/<member>`.
            wake: `true`: a stopped agent is started first. A paused one is resumed in any case.
            stream_options: Options of an answer that streams.
            user: Names a conversation that the agent remembers. The header X-Conversation-Id does the same.
        """
        return self._client.call(
            ChatCompletion,
            Call(
                "POST",
                "/chat/completions",
                query={"wake": wake},
                body={
                    "messages": messages,
                    "stream_options": stream_options,
                    "user": user,
                    "model": model,
                    **more,
                },
                patience=1860,
            ),
            options,
        )

    def stream_completions(
        self,
        *,
        messages: Sequence[Mapping[str, Any]],
        model: str,
        wake: bool | NotGiven = NOT_GIVEN,
        stream_options: params.AgentChatStreamOptions | None | NotGiven = NOT_GIVEN,
        user: str | None | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
        **more: Any,
    ) -> Stream[ChatCompletionChunk]:
        """Talk to the agent that `model` names.

        OpenAI's chat completions. With `stream: true` the reply is `text/event-stream`: OpenAI's chunks, then
        `[DONE]`; comments while the agent works, and `: waiting for a confirmation <id>` when a call of it
        begins to wait for its owner's yes; with `stream_options.include_steps`, chunks with `step` and no
        choices, one for the beginning and one for the end of each use of a tool; a failure in its midst is an
        event with `error`. The agent works with its own tools: a request's `tools` are not offered to its
        model. Closing the connection cancels the turn. A paused agent is resumed first; a stopped one answers
        409, unless `wake=true` or its `lifecycle.auto_start` says that it is to be started.

        Scope: `agents:write` or `agents:chat`.

        As an iterator of what comes. Leave it by `close`, or use it in a `with`: the server then stops.

        Args:
            messages: OpenAI's messages. With `user` set, only the new message is needed.
            model: The agent's id, or `<agent id>/<member>`.
            wake: `true`: a stopped agent is started first. A paused one is resumed in any case.
            stream_options: Options of an answer that streams.
            user: Names a conversation that the agent remembers. The header X-Conversation-Id does the same.
        """
        return self._client.stream(
            chat_chunk,
            Call(
                "POST",
                "/chat/completions",
                query={"wake": wake},
                body={
                    "messages": messages,
                    "stream_options": stream_options,
                    "user": user,
                    "model": model,
                    "stream": True,
                    **more,
                },
            ),
            options,
        )


class ModelsOperations(Resource):
    def list(
        self,
        *,
        options: RequestOptions | None = None,
    ) -> ModelList:
        """List agents, and their members, as models.

        The newest 1000 agents.

        Scope: `agents:write` or `agents:chat`.
        """
        return self._client.call(ModelList, Call("GET", "/models"), options)

    def agent(
        self,
        agent_id: str,
        *,
        options: RequestOptions | None = None,
    ) -> ModelList:
        """List the one agent, and its members, as models.

        For OpenAI clients whose base URL is the agent.

        Scope: `agents:write` or `agents:chat`.

        Args:
            agent_id: The agent's id.
        """
        return self._client.call(ModelList, Call("GET", f"/agents/{segment(agent_id)}/models"), options)


class UploadsOperations(Resource):
    def get(
        self,
        agent_id: str,
        upload_id: str,
        *,
        wake: bool | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> Upload:
        """Read how much of an upload has come.

        After a cut the next part begins at `offset`.

        Scope: `agents:read`.

        Args:
            agent_id: The agent's id.
            upload_id: An id that you choose for one file of this agent, 16 to 64 letters, digits, `_` and
                `-`. A hash of what is sent and where it goes finds the upload again after a crash of your
                own.
            wake: `true`: a stopped agent is started first. A paused one is resumed in any case.
        """
        return self._client.call(
            Upload,
            Call(
                "GET",
                f"/agents/{segment(agent_id)}/uploads/{segment(upload_id)}",
                query={"wake": wake},
            ),
            options,
        )

    def finish(
        self,
        agent_id: str,
        upload_id: str,
        *,
        path: str,
        size: int,
        wake: bool | NotGiven = NOT_GIVEN,
        if_match: str | NotGiven = NOT_GIVEN,
        if_none_match: str | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> AgentFile:
        """Put an upload in its place.

        All parts together become a file of the agent's workspace, in one step: before it the path is as it
        was. Folders on the way are made. The upload is no more then.

        Scope: `agents:write`.

        Args:
            agent_id: The agent's id.
            upload_id: An id that you choose for one file of this agent, 16 to 64 letters, digits, `_` and
                `-`. A hash of what is sent and where it goes finds the upload again after a crash of your
                own.
            path: Where the file goes in the workspace; no `.` and `..`.
            size: Bytes of the whole file. If others have come, nothing is done and 409 says so.
            wake: `true`: a stopped agent is started first. A paused one is resumed in any case.
            if_match: ETags of which one must be there, or `*` for anything; else 412.
            if_none_match: `*`: nothing may be there; else 412.
        """
        return self._client.call(
            AgentFile,
            Call(
                "POST",
                f"/agents/{segment(agent_id)}/uploads/{segment(upload_id)}",
                query={"wake": wake},
                headers={"if-match": if_match, "if-none-match": if_none_match},
                body={"path": path, "size": size},
                keyed=True,
            ),
            options,
        )

    def delete(
        self,
        agent_id: str,
        upload_id: str,
        *,
        wake: bool | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> UploadDeleted:
        """Give up an upload.

        What has come of it is removed. One to which nothing comes for a day is removed by itself.

        Scope: `agents:write`.

        Args:
            agent_id: The agent's id.
            upload_id: An id that you choose for one file of this agent, 16 to 64 letters, digits, `_` and
                `-`. A hash of what is sent and where it goes finds the upload again after a crash of your
                own.
            wake: `true`: a stopped agent is started first. A paused one is resumed in any case.
        """
        return self._client.call(
            UploadDeleted,
            Call(
                "DELETE",
                f"/agents/{segment(agent_id)}/uploads/{segment(upload_id)}",
                query={"wake": wake},
            ),
            options,
        )


class ExecOperations(Resource):
    def run(
        self,
        agent_id: str,
        *,
        wake: bool | NotGiven = NOT_GIVEN,
        command: str | NotGiven = NOT_GIVEN,
        argv: Sequence[str] | NotGiven = NOT_GIVEN,
        cwd: str | NotGiven = NOT_GIVEN,
        env: Mapping[str, str] | NotGiven = NOT_GIVEN,
        user: Literal["agent", "root"] | NotGiven = NOT_GIVEN,
        stdin: str | NotGiven = NOT_GIVEN,
        timeout_seconds: int | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> ExecResult:
        """Run a command in an agent's machine.

        In its workspace, as the agent’s own user or as `root` of its machine. With `stream: true` the reply
        is `text/event-stream`: events `stdout` and `stderr` with `{"text"}` as the command writes, up to 16
        MiB of each, then one `exit` with what the plain reply has; comments while it is silent; an event
        `error` when it was cut off. Closing the connection kills the command with all that it has started. A
        paused agent is resumed first; a stopped one answers 409, unless `wake=true` or its
        `lifecycle.auto_start` says that it is to be started.

        Scope: `agents:write`.

        Args:
            agent_id: The agent's id.
            wake: `true`: a stopped agent is started first. A paused one is resumed in any case.
            command: A line for the shell (`bash -c`). Either this or `argv`.
            argv: A program and its arguments, without a shell. Either this or `command`.
            cwd: Folder to run in; a relative one is within the workspace, which is the default.
            env: Variables, beside those that every command has.
            user: Whom the command runs as: the agent’s own user, or `root` of its machine, which is written
                to the audit log and counts among the key’s changes, too.
            stdin: What the command reads.
            timeout_seconds: Then it is killed with all that it has started.
        """
        return self._client.call(
            ExecResult,
            Call(
                "POST",
                f"/agents/{segment(agent_id)}/exec",
                query={"wake": wake},
                body={
                    "command": command,
                    "argv": argv,
                    "cwd": cwd,
                    "env": env,
                    "user": user,
                    "stdin": stdin,
                    "timeout_seconds": timeout_seconds,
                },
                patience=silence(timeout_seconds, 150),
            ),
            options,
        )

    def stream(
        self,
        agent_id: str,
        *,
        wake: bool | NotGiven = NOT_GIVEN,
        command: str | NotGiven = NOT_GIVEN,
        argv: Sequence[str] | NotGiven = NOT_GIVEN,
        cwd: str | NotGiven = NOT_GIVEN,
        env: Mapping[str, str] | NotGiven = NOT_GIVEN,
        user: Literal["agent", "root"] | NotGiven = NOT_GIVEN,
        stdin: str | NotGiven = NOT_GIVEN,
        timeout_seconds: int | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> Stream[ExecEvent]:
        """Run a command in an agent's machine.

        In its workspace, as the agent’s own user or as `root` of its machine. With `stream: true` the reply
        is `text/event-stream`: events `stdout` and `stderr` with `{"text"}` as the command writes, up to 16
        MiB of each, then one `exit` with what the plain reply has; comments while it is silent; an event
        `error` when it was cut off. Closing the connection kills the command with all that it has started. A
        paused agent is resumed first; a stopped one answers 409, unless `wake=true` or its
        `lifecycle.auto_start` says that it is to be started.

        Scope: `agents:write`.

        As an iterator of what comes. Leave it by `close`, or use it in a `with`: the server then stops.

        Args:
            agent_id: The agent's id.
            wake: `true`: a stopped agent is started first. A paused one is resumed in any case.
            command: A line for the shell (`bash -c`). Either this or `argv`.
            argv: A program and its arguments, without a shell. Either this or `command`.
            cwd: Folder to run in; a relative one is within the workspace, which is the default.
            env: Variables, beside those that every command has.
            user: Whom the command runs as: the agent’s own user, or `root` of its machine, which is written
                to the audit log and counts among the key’s changes, too.
            stdin: What the command reads.
            timeout_seconds: Then it is killed with all that it has started.
        """
        return self._client.stream(
            exec_event,
            Call(
                "POST",
                f"/agents/{segment(agent_id)}/exec",
                query={"wake": wake},
                body={
                    "command": command,
                    "argv": argv,
                    "cwd": cwd,
                    "env": env,
                    "user": user,
                    "stdin": stdin,
                    "timeout_seconds": timeout_seconds,
                    "stream": True,
                },
            ),
            options,
        )


class ServiceOperations(Resource):
    def sizes(
        self,
        *,
        options: RequestOptions | None = None,
    ) -> Pages[Size]:
        """List machine sizes."""
        return self._client.pages(Size, Call("GET", "/sizes"), options)

    def providers(
        self,
        *,
        options: RequestOptions | None = None,
    ) -> Pages[Provider]:
        """List LLM providers.

        Their ids are what `llm_keys[].provider` and the prefix of a runtime_a `model` take.
        """
        return self._client.pages(Provider, Call("GET", "/providers"), options)

    def limits(
        self,
        *,
        options: RequestOptions | None = None,
    ) -> Limits:
        """Quotas, rate limits and spend limits.

        What the account may have and spend, what it has and has spent, and how often a key may ask.
        """
        return self._client.call(Limits, Call("GET", "/limits"), options)

    def host(
        self,
        *,
        options: RequestOptions | None = None,
    ) -> Host:
        """Read the state of the machine.

        For an owner: memory and disk, the agents that hold the most, templates, versions, what is weak, and
        backups. Held for some seconds; a part that the machine does not answer in time is null.

        Scope: `usage:read`.
        """
        return self._client.call(Host, Call("GET", "/host"), options)

    def health(
        self,
        *,
        options: RequestOptions | None = None,
    ) -> Health:
        """Ask whether the service works.

        Needs no key. 500 when the service cannot serve.
        """
        return self._client.call(Health, Call("GET", "/health"), options)

    def open_api(
        self,
        *,
        options: RequestOptions | None = None,
    ) -> dict[str, Any]:
        """Read this document.

        Needs no key.
        """
        return self._client.call_object(Call("GET", "/openapi.json"), options)


class MembersOperations(Resource):
    def list(
        self,
        agent_id: str,
        *,
        options: RequestOptions | None = None,
    ) -> Pages[AgentMember]:
        """List the members of an agent.

        Further agents in the same machine, with model, instructions, workspace and conversations of their
        own. They share the agent's files and keys: what one can do, the others can. For runtime_a; the other
        runtime holds a single agent (400).

        Scope: `agents:read`.

        Args:
            agent_id: The agent's id.
        """
        return self._client.pages(AgentMember, Call("GET", f"/agents/{segment(agent_id)}/members"), options)

    def create(
        self,
        agent_id: str,
        *,
        name: str,
        model: str | None | NotGiven = NOT_GIVEN,
        instructions: str | None | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> AgentMember:
        """Add a member to an agent.

        Comes into effect in the running machine, without a restart; the reply waits for that, for a bounded
        time, and `pending` says whether it is so. Members are spoken to as the agent is, with `<agent
        id>/<name>` for the model. Its workspace is `members/<name>` in the agent's.

        Scope: `agents:write`.

        Args:
            agent_id: The agent's id.
            name: Lower case letters, digits and hyphens, 2 to 32, a letter first.
            model: `<provider>/<model_name>`; null: the agent's own model.
            instructions: Who it is and how it works, up to 32 KB of UTF-8; put where its runtime reads its
                identity. Null, or nothing but white space: none.
        """
        return self._client.call(
            AgentMember,
            Call(
                "POST",
                f"/agents/{segment(agent_id)}/members",
                body={"name": name, "model": model, "instructions": instructions},
                keyed=True,
            ),
            options,
        )

    def get(
        self,
        agent_id: str,
        name: str,
        *,
        options: RequestOptions | None = None,
    ) -> AgentMember:
        """Read a member.

        Scope: `agents:read`.

        Args:
            agent_id: The agent's id.
            name: The member's name.
        """
        return self._client.call(
            AgentMember,
            Call("GET", f"/agents/{segment(agent_id)}/members/{segment(name)}"),
            options,
        )

    def update(
        self,
        agent_id: str,
        name: str,
        *,
        model: str | None | NotGiven = NOT_GIVEN,
        instructions: str | None | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> AgentMember:
        """Change a member.

        Only what is given changes. A model is in effect with the next request.

        Scope: `agents:write`.

        Args:
            agent_id: The agent's id.
            name: The member's name.
            model: `<provider>/<model_name>`; null: the agent's own model.
            instructions: Who it is and how it works, up to 32 KB of UTF-8; put where its runtime reads its
                identity. Null, or nothing but white space: none.
        """
        return self._client.call(
            AgentMember,
            Call(
                "PATCH",
                f"/agents/{segment(agent_id)}/members/{segment(name)}",
                body={"model": model, "instructions": instructions},
            ),
            options,
        )

    def delete(
        self,
        agent_id: str,
        name: str,
        *,
        options: RequestOptions | None = None,
    ) -> DeletedMember:
        """Remove a member.

        Its workspace and its conversations go with it.

        Scope: `agents:write`.

        Args:
            agent_id: The agent's id.
            name: The member's name.
        """
        return self._client.call(
            DeletedMember,
            Call("DELETE", f"/agents/{segment(agent_id)}/members/{segment(name)}"),
            options,
        )


class LinksOperations(Resource):
    def create(
        self,
        agent_id: str,
        *,
        page: Literal["gateway", "dashboard", "port", "browser"] | NotGiven = NOT_GIVEN,
        port: int | None | NotGiven = NOT_GIVEN,
        path: str | NotGiven = NOT_GIVEN,
        expires_in_seconds: int | NotGiven = NOT_GIVEN,
        visit_seconds: int | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> Link:
        """Make a link to an agent for a browser.

        An agent's own address (`url`, `dashboard_url`, published ports, the view of its browser) takes an API
        key with the scope `agents:write` in its usual header; a browser opens it by a link. The link works
        once, within minutes, and gives that browser a cookie for that one page of that one agent. The cookie
        ends after `visit_seconds`, and with the agent, the API key or session that made the link, and the
        account's password. The agent need not run; it is resumed when the page is looked at.

        The reply is not kept for an Idempotency-Key: it holds a secret.

        Scope: `agents:write`.

        Args:
            agent_id: The agent's id.
            page: `gateway`: the agent's `url`; `dashboard`: its `dashboard_url`; `port`: a published port;
                `browser`: a view of the agent's browser.
            port: With `page: "port"`: which one.
            path: Where the link leads.
            expires_in_seconds: How long the link can be opened; once.
            visit_seconds: How long the browser that opened it may look at the page.
        """
        return self._client.call(
            Link,
            Call(
                "POST",
                f"/agents/{segment(agent_id)}/links",
                body={
                    "page": page,
                    "port": port,
                    "path": path,
                    "expires_in_seconds": expires_in_seconds,
                    "visit_seconds": visit_seconds,
                },
                keyed=True,
            ),
            options,
        )


class PortsOperations(Resource):
    def list(
        self,
        agent_id: str,
        *,
        options: RequestOptions | None = None,
    ) -> Pages[Port]:
        """List the published ports of an agent.

        Scope: `agents:write`.

        Args:
            agent_id: The agent's id.
        """
        return self._client.pages(Port, Call("GET", f"/agents/{segment(agent_id)}/ports"), options)

    def publish(
        self,
        agent_id: str,
        *,
        port: int,
        public: bool | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> Port:
        """Publish a port of an agent.

        Serves an HTTP server in the agent's machine under an address of its own, WebSockets among it. The
        server must listen on the machine's address (0.0.0.0), not on loopback alone. A request resumes a
        paused agent and holds it awake. The ports of the agent's own gateway, its dashboard and the service's
        daemon cannot be published. For a port that is published already, `public` is changed.

        Scope: `agents:write`.

        Args:
            agent_id: The agent's id.
            port: A port that a server in the agent's machine listens on.
            public: False: an API key or a link is asked for, as at the agent's own address. True: nothing is.
        """
        return self._client.call(
            Port,
            Call(
                "POST",
                f"/agents/{segment(agent_id)}/ports",
                body={"port": port, "public": public},
                keyed=True,
            ),
            options,
        )

    def unpublish(
        self,
        agent_id: str,
        port: int,
        *,
        options: RequestOptions | None = None,
    ) -> DeletedPort:
        """Take a published port back.

        Scope: `agents:write`.

        Args:
            agent_id: The agent's id.
        """
        return self._client.call(
            DeletedPort,
            Call("DELETE", f"/agents/{segment(agent_id)}/ports/{segment(port)}"),
            options,
        )


class BrowsersOperations(Resource):
    def get(
        self,
        agent_id: str,
        *,
        options: RequestOptions | None = None,
    ) -> Browser:
        """Read the browser of an agent.

        Its state, its tabs, and the one who has the control. Nobody is woken, and nothing is started.

        Scope: `agents:read`.

        Args:
            agent_id: The agent's id.
        """
        return self._client.call(Browser, Call("GET", f"/agents/{segment(agent_id)}/browser"), options)

    def take_control(
        self,
        agent_id: str,
        *,
        seconds: int | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> Browser:
        """Take the control of a browser.

        Until it is given back, or for `seconds`, the agent's own calls to the browser wait, and its tabs stay
        as they are. A link with `page: "browser"` opens the view in which a person uses mouse and keyboard.
        Taken again, the time counts from then on.

        Scope: `agents:write`.

        Args:
            agent_id: The agent's id.
            seconds: How long it is held, counted from now; then it ends by itself.
        """
        return self._client.call(
            Browser,
            Call(
                "POST",
                f"/agents/{segment(agent_id)}/browser/control",
                body={"seconds": seconds},
                keyed=True,
            ),
            options,
        )

    def release_control(
        self,
        agent_id: str,
        *,
        options: RequestOptions | None = None,
    ) -> Browser:
        """Give the control of a browser back.

        The agent's calls go on in the tabs that are there. Nothing happens where nobody holds it.

        Scope: `agents:write`.

        Args:
            agent_id: The agent's id.
        """
        return self._client.call(
            Browser,
            Call("DELETE", f"/agents/{segment(agent_id)}/browser/control"),
            options,
        )


class ChannelsOperations(Resource):
    def list(
        self,
        agent_id: str,
        *,
        options: RequestOptions | None = None,
    ) -> Pages[Channel]:
        """List the messaging channels of an agent.

        Scope: `agents:read`.

        Args:
            agent_id: The agent's id.
        """
        return self._client.pages(Channel, Call("GET", f"/agents/{segment(agent_id)}/channels"), options)

    def get(
        self,
        agent_id: str,
        channel: str,
        *,
        options: RequestOptions | None = None,
    ) -> Channel:
        """Read a messaging channel of an agent.

        One that was never put has the status `not_configured`.

        Scope: `agents:read`.

        Args:
            agent_id: The agent's id.
            channel: slack, discord, telegram, whatsapp, gmail; `email` is another name for `gmail`.
        """
        return self._client.call(
            Channel,
            Call("GET", f"/agents/{segment(agent_id)}/channels/{segment(channel)}"),
            options,
        )

    def put(
        self,
        agent_id: str,
        channel: str,
        *,
        verify: bool | NotGiven = NOT_GIVEN,
        app_token: str | NotGiven = NOT_GIVEN,
        bot_token: str | NotGiven = NOT_GIVEN,
        enabled: bool | NotGiven = NOT_GIVEN,
        access: params.ChannelsInputSlackAccess | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> Channel:
        """Put a messaging channel of an agent.

        Replaces what is there, in every state of the agent; a secret that is left out keeps the stored one.
        New secrets are verified at the platform before anything is written, unless `verify=false`. The
        connection is held on the host: `status` says how it is.

        Scope: `agents:write`.

        Args:
            agent_id: The agent's id.
            channel: slack, discord, telegram, whatsapp, gmail; `email` is another name for `gmail`.
            verify: `false`: no platform is asked whether new credentials are good.
            app_token: For Socket Mode. Left out, the stored one stays.
            bot_token: Kept encrypted, never given back. Left out, the stored one stays.
            enabled: False: kept, and not connected.
            access: Fields that are left out have their defaults: `pairing`, and groups by mention.
        """
        return self._client.call(
            Channel,
            Call(
                "PUT",
                f"/agents/{segment(agent_id)}/channels/{segment(channel)}",
                query={"verify": verify},
                body={"appToken": app_token, "botToken": bot_token, "enabled": enabled, "access": access},
            ),
            options,
        )

    def delete(
        self,
        agent_id: str,
        channel: str,
        *,
        options: RequestOptions | None = None,
    ) -> DeletedChannel:
        """Remove a messaging channel of an agent.

        With its secrets, its pairing, its senders and its messages.

        Scope: `agents:write`.

        Args:
            agent_id: The agent's id.
            channel: slack, discord, telegram, whatsapp, gmail; `email` is another name for `gmail`.
        """
        return self._client.call(
            DeletedChannel,
            Call("DELETE", f"/agents/{segment(agent_id)}/channels/{segment(channel)}"),
            options,
        )

    def restart(
        self,
        agent_id: str,
        channel: str,
        *,
        options: RequestOptions | None = None,
    ) -> Channel:
        """Open the connection of a channel anew.

        Out of `error` too. Nothing that waits is lost.

        Scope: `agents:write`.

        Args:
            agent_id: The agent's id.
            channel: slack, discord, telegram, whatsapp, gmail; `email` is another name for `gmail`.
        """
        return self._client.call(
            Channel,
            Call(
                "POST",
                f"/agents/{segment(agent_id)}/channels/{segment(channel)}/restart",
                body={},
                keyed=True,
            ),
            options,
        )

    def test(
        self,
        agent_id: str,
        channel: str,
        *,
        conversation: str | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> ChannelTest:
        """Test a channel.

        Asks the platform whether the stored credentials are good. With `conversation` a test message is sent
        there: somebody must have written in it before.

        Scope: `agents:write`.

        Args:
            agent_id: The agent's id.
            channel: slack, discord, telegram, whatsapp, gmail; `email` is another name for `gmail`.
            conversation: A `conversation.id` of `GET /v1/agents/:id/messages`: a test message is sent there.
        """
        return self._client.call(
            ChannelTest,
            Call(
                "POST",
                f"/agents/{segment(agent_id)}/channels/{segment(channel)}/test",
                body={"conversation": conversation},
                keyed=True,
            ),
            options,
        )

    def approvals(
        self,
        agent_id: str,
        channel: str,
        *,
        state: Literal["pending", "approved", "denied"] | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> Pages[Approval]:
        """List who asked to talk to an agent.

        Scope: `agents:read`.

        Args:
            agent_id: The agent's id.
            channel: slack, discord, telegram, whatsapp, gmail; `email` is another name for `gmail`.
            state: Only those in this state.
        """
        return self._client.pages(
            Approval,
            Call(
                "GET",
                f"/agents/{segment(agent_id)}/channels/{segment(channel)}/approvals",
                query={"state": state},
            ),
            options,
        )

    def decide(
        self,
        agent_id: str,
        channel: str,
        *,
        code: str,
        action: Literal["approve", "deny"],
        options: RequestOptions | None = None,
    ) -> Approval:
        """Approve or deny who asked to talk to an agent.

        Scope: `agents:write`.

        Args:
            agent_id: The agent's id.
            channel: slack, discord, telegram, whatsapp, gmail; `email` is another name for `gmail`.
            code: The code that the sender was told.
        """
        return self._client.call(
            Approval,
            Call(
                "POST",
                f"/agents/{segment(agent_id)}/channels/{segment(channel)}/approvals",
                body={"code": code, "action": action},
                keyed=True,
            ),
            options,
        )

    def pairing(
        self,
        agent_id: str,
        *,
        options: RequestOptions | None = None,
    ) -> Pairing:
        """Read or follow the pairing of WhatsApp.

        With `Accept: text/event-stream` each change comes as an event, until it is connected or has failed.
        The codes are shown to who may change the agent.

        Scope: `agents:read`.

        Args:
            agent_id: The agent's id.
        """
        return self._client.call(
            Pairing,
            Call("GET", f"/agents/{segment(agent_id)}/channels/whatsapp/pair"),
            options,
        )

    def start_gmail_oauth(
        self,
        agent_id: str,
        *,
        redirect_url: str | NotGiven = NOT_GIVEN,
        login_hint: str | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> OAuthSession:
        """Begin the consent for a mailbox.

        Gives the address of a page of this service, on which the mailbox's owner is told which agent asks,
        and agrees or refuses, within 10 minutes and once. The page leads to Google, and Google leads the same
        browser back to this service, which keeps the consent encrypted and connects the channel. With
        `login_hint` no other mailbox is taken.

        Scope: `agents:write`.

        Args:
            agent_id: The agent's id.
            redirect_url: Where the page that ends the consent leads on to.
            login_hint: The address that the consent is for.
        """
        return self._client.call(
            OAuthSession,
            Call(
                "POST",
                f"/agents/{segment(agent_id)}/channels/gmail/oauth/start",
                body={"redirect_url": redirect_url, "login_hint": login_hint},
                keyed=True,
            ),
            options,
        )


class MessagesOperations(Resource):
    def list(
        self,
        agent_id: str,
        *,
        limit: int | NotGiven = NOT_GIVEN,
        cursor: str | NotGiven = NOT_GIVEN,
        channel: Literal["slack", "discord", "telegram", "whatsapp", "gmail", "email"] | NotGiven = NOT_GIVEN,
        state: Literal["received", "answered", "failed", "unknown", "refused"] | NotGiven = NOT_GIVEN,
        content: bool | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> Pages[ChannelMessage]:
        """List the messages of an agent on its channels.

        Newest first, and without what was said unless `content=true`.

        Scope: `agents:read`.

        Args:
            agent_id: The agent's id.
            limit: Messages per page.
            cursor: `next_cursor` of the page before.
            channel: Only messages of this channel.
            state: Only messages in this state.
            content: `true`: with what was written and answered.
        """
        return self._client.pages(
            ChannelMessage,
            Call(
                "GET",
                f"/agents/{segment(agent_id)}/messages",
                query={
                    "limit": limit,
                    "cursor": cursor,
                    "channel": channel,
                    "state": state,
                    "content": content,
                },
            ),
            options,
        )

    def retry(
        self,
        agent_id: str,
        message_id: str,
        *,
        options: RequestOptions | None = None,
    ) -> ChannelMessage:
        """Try a message again.

        One that failed, or whose outcome is unknown: the turn is made anew, or what of its answer was not
        sent is sent. A part whose outcome is unknown may arrive twice.

        Scope: `agents:write`.

        Args:
            agent_id: The agent's id.
            message_id: The message's id.
        """
        return self._client.call(
            ChannelMessage,
            Call(
                "POST",
                f"/agents/{segment(agent_id)}/messages/{segment(message_id)}/retry",
                body={},
                keyed=True,
            ),
            options,
        )


class ConfirmationsOperations(Resource):
    def list(
        self,
        *,
        limit: int | NotGiven = NOT_GIVEN,
        cursor: str | NotGiven = NOT_GIVEN,
        status: Literal["pending", "allowed", "sending", "done", "denied", "expired", "failed", "unknown"] | NotGiven = NOT_GIVEN,
        agent_id: str | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> Pages[Confirmation]:
        """List confirmations.

        Newest first. Closed ones are kept for 30 days, and the last 1,000 of an agent.

        Scope: `agents:read`.

        Args:
            limit: Confirmations per page.
            cursor: `next_cursor` of the page before.
            status: Only those in this status.
            agent_id: Only those of this agent.
        """
        return self._client.pages(
            Confirmation,
            Call(
                "GET",
                "/confirmations",
                query={"limit": limit, "cursor": cursor, "status": status, "agent_id": agent_id},
            ),
            options,
        )

    def get(
        self,
        confirmation: str,
        *,
        options: RequestOptions | None = None,
    ) -> Confirmation:
        """Read a confirmation.

        Scope: `agents:read`.

        Args:
            confirmation: The confirmation's id.
        """
        return self._client.call(
            Confirmation,
            Call("GET", f"/confirmations/{segment(confirmation)}"),
            options,
        )

    def decide(
        self,
        confirmation: str,
        *,
        decision: Literal["allow", "deny"],
        reason: str | NotGiven = NOT_GIVEN,
        answer: str | NotGiven = NOT_GIVEN,
        remember: Literal["none", "conversation", "rule"] | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> Confirmation:
        """Decide about a confirmation.

        Allows or denies a call, or answers a question, once. A call that waits in its turn is made by the
        agent’s own request; a later one is made by Lodge, once, and a turn of the same conversation tells the
        agent.

        Scope: `agents:write`.

        Args:
            confirmation: The confirmation's id.
            reason: For the agent.
            answer: For a question that is allowed: one of its options, or other words.
            remember: `conversation`: the same method and path, or tool, has the same decision in this
                conversation. `rule`: a rule of the agent says so from now on.
        """
        return self._client.call(
            Confirmation,
            Call(
                "POST",
                f"/confirmations/{segment(confirmation)}",
                body={"decision": decision, "reason": reason, "answer": answer, "remember": remember},
                keyed=True,
            ),
            options,
        )


class ConnectionsOperations(Resource):
    def list(
        self,
        agent_id: str,
        *,
        options: RequestOptions | None = None,
    ) -> Pages[Connection]:
        """List the connections of an agent.

        Services of other people that the agent uses. Their credentials stay on the host, which adds them to
        each request.

        Scope: `agents:read`.

        Args:
            agent_id: The agent's id.
        """
        return self._client.pages(Connection, Call("GET", f"/agents/{segment(agent_id)}/connections"), options)

    def get(
        self,
        agent_id: str,
        name: str,
        *,
        options: RequestOptions | None = None,
    ) -> Connection:
        """Read a connection of an agent.

        Scope: `agents:read`.

        Args:
            agent_id: The agent's id.
            name: Lower case letters, digits and hyphens, a letter first, at most 32.
        """
        return self._client.call(
            Connection,
            Call("GET", f"/agents/{segment(agent_id)}/connections/{segment(name)}"),
            options,
        )

    def put(
        self,
        agent_id: str,
        name: str,
        *,
        kind: Literal["mcp", "http", "host"],
        url: str | NotGiven = NOT_GIVEN,
        hosts: Sequence[str] | NotGiven = NOT_GIVEN,
        secrets: Mapping[str, params.PutConnectionSecretsValue] | NotGiven = NOT_GIVEN,
        headers: Mapping[str, str] | NotGiven = NOT_GIVEN,
        allow: Sequence[params.ConnectionAllow] | NotGiven = NOT_GIVEN,
        tools: Sequence[str] | None | NotGiven = NOT_GIVEN,
        auth: params.PutConnectionAuth | None | NotGiven = NOT_GIVEN,
        enabled: bool | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> Connection:
        """Put a connection of an agent.

        Replaces what is there, in every state of the agent; headers that are left out stay as they are
        stored. In effect with the next call, without a restart.

        Scope: `agents:write`.

        Args:
            agent_id: The agent's id.
            name: Lower case letters, digits and hyphens, a letter first, at most 32.
            kind: `mcp`: a server of the Model Context Protocol over streamable HTTP; the agent has its tools.
                `http`: any HTTP service; the agent sends it requests, as far as `allow` goes. `host`: hosts
                that programs in the machine reach by https under their own names, with placeholders in the
                place of secrets.
            url: For `mcp` and `http`, where it is required. Without user, query and fragment. It must be
                `https`, unless the operator allows any address.
            hosts: For `host`: whole names of hosts, without wildcards. In the machine they lead to Lodge, and
                no others do.
            secrets: For `host`: secrets by the names of variables, which hold placeholders in the machine.
                The host replaces a placeholder in the named headers alone; values are never given back. Left
                out, the stored ones stay; with further hosts they must be given again.
            headers: Added by the host to each request, and never given back. Left out, the stored ones stay;
                with another `url` they must be given again.
            allow: For `http` and `host`: what may be asked. Nothing else is, and one entry must name both the
                method and the path.
            tools: For `mcp`: the tools that the agent has, by the server's names; null: all of them.
            enabled: False: kept, and not used.
        """
        return self._client.call(
            Connection,
            Call(
                "PUT",
                f"/agents/{segment(agent_id)}/connections/{segment(name)}",
                body={
                    "kind": kind,
                    "url": url,
                    "hosts": hosts,
                    "secrets": secrets,
                    "headers": headers,
                    "allow": allow,
                    "tools": tools,
                    "auth": auth,
                    "enabled": enabled,
                },
            ),
            options,
        )

    def delete(
        self,
        agent_id: str,
        name: str,
        *,
        options: RequestOptions | None = None,
    ) -> DeletedConnection:
        """Remove a connection of an agent.

        With its credentials. No call begins after that.

        Scope: `agents:write`.

        Args:
            agent_id: The agent's id.
            name: Lower case letters, digits and hyphens, a letter first, at most 32.
        """
        return self._client.call(
            DeletedConnection,
            Call("DELETE", f"/agents/{segment(agent_id)}/connections/{segment(name)}"),
            options,
        )

    def start_oauth(
        self,
        agent_id: str,
        name: str,
        *,
        redirect_url: str | NotGiven = NOT_GIVEN,
        scope: str | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> ConnectionOAuthSession:
        """Begin the consent for a connection.

        For connections with OAuth. Gives the address of a page of this service, on which somebody is told
        which agent asks, and agrees or refuses, within 10 minutes and once. The page leads to the
        authorization server, which leads the same browser back to this service, which keeps the access
        encrypted on the host, and renews it.

        Scope: `agents:write`.

        Args:
            agent_id: The agent's id.
            name: Lower case letters, digits and hyphens, a letter first, at most 32.
            redirect_url: Where the page that ends the consent leads on to.
            scope: What this consent asks for, in the place of the connection's own.
        """
        return self._client.call(
            ConnectionOAuthSession,
            Call(
                "POST",
                f"/agents/{segment(agent_id)}/connections/{segment(name)}/oauth/start",
                body={"redirect_url": redirect_url, "scope": scope},
                keyed=True,
            ),
            options,
        )


class WebhooksOperations(Resource):
    def create(
        self,
        *,
        url: str,
        events: Sequence[str],
        description: str | NotGiven = NOT_GIVEN,
        enabled: bool | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> WebhookWithSecret:
        """Have events sent to a server of yours.

        Events from now on are sent as they happen: a POST of the event as `GET /v1/events` shows it, signed
        as Standard Webhooks has it. The secret is in this reply alone, which no Idempotency-Key keeps.

        Scope: `agents:write`.

        Args:
            url: Where events are sent, by https. Private addresses are refused unless the operator allows
                them.
            events: Types of events: a type such as `agent.paused`, a family such as `agent.*`, or `*` for
                all.
            description: A label of your own.
            enabled: A disabled webhook is told nothing.
        """
        return self._client.call(
            WebhookWithSecret,
            Call(
                "POST",
                "/webhooks",
                body={"url": url, "events": events, "description": description, "enabled": enabled},
                keyed=True,
            ),
            options,
        )

    def list(
        self,
        *,
        options: RequestOptions | None = None,
    ) -> Pages[Webhook]:
        """List the webhooks of the account.

        Scope: `agents:read`.
        """
        return self._client.pages(Webhook, Call("GET", "/webhooks"), options)

    def get(
        self,
        webhook_id: str,
        *,
        options: RequestOptions | None = None,
    ) -> Webhook:
        """Read a webhook.

        Scope: `agents:read`.

        Args:
            webhook_id: The webhook's id.
        """
        return self._client.call(Webhook, Call("GET", f"/webhooks/{segment(webhook_id)}"), options)

    def update(
        self,
        webhook_id: str,
        *,
        url: str | NotGiven = NOT_GIVEN,
        events: Sequence[str] | NotGiven = NOT_GIVEN,
        description: str | NotGiven = NOT_GIVEN,
        enabled: bool | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> Webhook:
        """Change a webhook.

        Fields that are left out stay as they are. A webhook that is enabled again is sent events from then
        on, and what was pending.

        Scope: `agents:write`.

        Args:
            webhook_id: The webhook's id.
            url: Where events are sent, by https. Private addresses are refused unless the operator allows
                them.
            events: Types of events: a type such as `agent.paused`, a family such as `agent.*`, or `*` for
                all.
            description: A label of your own.
            enabled: A disabled webhook is told nothing.
        """
        return self._client.call(
            Webhook,
            Call(
                "PATCH",
                f"/webhooks/{segment(webhook_id)}",
                body={"url": url, "events": events, "description": description, "enabled": enabled},
            ),
            options,
        )

    def delete(
        self,
        webhook_id: str,
        *,
        options: RequestOptions | None = None,
    ) -> WebhookDeleted:
        """Remove a webhook.

        With its deliveries; those that wait are not sent any more.

        Scope: `agents:write`.

        Args:
            webhook_id: The webhook's id.
        """
        return self._client.call(WebhookDeleted, Call("DELETE", f"/webhooks/{segment(webhook_id)}"), options)

    def rotate(
        self,
        webhook_id: str,
        *,
        overlap_seconds: int | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> WebhookWithSecret:
        """Give a webhook a new secret.

        For the time of the overlap each event is signed with both, so that the receiver can change over at
        leisure. No Idempotency-Key keeps the reply: it holds a secret.

        Scope: `agents:write`.

        Args:
            webhook_id: The webhook's id.
            overlap_seconds: How long the present secret goes on signing beside the new one.
        """
        return self._client.call(
            WebhookWithSecret,
            Call(
                "POST",
                f"/webhooks/{segment(webhook_id)}/rotate",
                body={"overlap_seconds": overlap_seconds},
                keyed=True,
            ),
            options,
        )

    def deliveries(
        self,
        webhook_id: str,
        *,
        limit: int | NotGiven = NOT_GIVEN,
        cursor: str | NotGiven = NOT_GIVEN,
        state: Literal["pending", "delivered", "failed"] | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> Pages[WebhookDelivery]:
        """List the deliveries of a webhook.

        Newest first. Ended ones are kept for a week, at most 10,000 of a webhook.

        Scope: `agents:read`.

        Args:
            webhook_id: The webhook's id.
            limit: Deliveries per page.
            cursor: `next_cursor` of the page before.
            state: Only deliveries in this state.
        """
        return self._client.pages(
            WebhookDelivery,
            Call(
                "GET",
                f"/webhooks/{segment(webhook_id)}/deliveries",
                query={"limit": limit, "cursor": cursor, "state": state},
            ),
            options,
        )

    def test(
        self,
        webhook_id: str,
        *,
        options: RequestOptions | None = None,
    ) -> WebhookDelivery:
        """Send a test event.

        Of type `webhook.test`, whatever events the webhook wants, at once and once. The reply tells how it
        went; `pending` after 12 seconds.

        Scope: `agents:write`.

        Args:
            webhook_id: The webhook's id.
        """
        return self._client.call(
            WebhookDelivery,
            Call("POST", f"/webhooks/{segment(webhook_id)}/test", body={}, keyed=True),
            options,
        )

    def redeliver(
        self,
        webhook_id: str,
        delivery_id: str,
        *,
        options: RequestOptions | None = None,
    ) -> WebhookDelivery:
        """Send a delivery again.

        Under the same `webhook-id`, with a fresh count of attempts.

        Scope: `agents:write`.

        Args:
            webhook_id: The webhook's id.
            delivery_id: The delivery's id.
        """
        return self._client.call(
            WebhookDelivery,
            Call(
                "POST",
                f"/webhooks/{segment(webhook_id)}/deliveries/{segment(delivery_id)}/redeliver",
                body={},
                keyed=True,
            ),
            options,
        )


class SkillsOperations(Resource):
    def list(
        self,
        *,
        options: RequestOptions | None = None,
    ) -> Pages[Skill]:
        """List the skills of the account.

        Scope: `agents:read`.
        """
        return self._client.pages(Skill, Call("GET", "/skills"), options)

    def add(
        self,
        *,
        git: params.AddSkillGit | NotGiven = NOT_GIVEN,
        hub: params.AddSkillHub | NotGiven = NOT_GIVEN,
        accept_findings: bool | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> Skill:
        """Add a skill, or a version of it.

        A folder with a SKILL.md as agentskills.io has it: as a zip or a tar.gz in the body, or fetched from a
        git repository or a hub. A skill of a name that is there gets its next version. Lodge reviews each
        version by rules; a finding of severity `high` refuses it with 422 `skill_refused` and the findings,
        unless `accept_findings` is sent. An account has at most 100 skills of 100 versions each, and 256 MiB.
        A skill has at most 256 files and 8 MiB.

        Scope: `agents:write`.

        Args:
            accept_findings: Takes the skill in spite of findings of severity `high`. Look at them first.
        """
        return self._client.call(
            Skill,
            Call(
                "POST",
                "/skills",
                body={"git": git, "hub": hub, "accept_findings": accept_findings},
                keyed=True,
            ),
            options,
        )

    def get(
        self,
        skill: str,
        *,
        options: RequestOptions | None = None,
    ) -> Skill:
        """Read a skill.

        Scope: `agents:read`.

        Args:
            skill: The skill's id or name.
        """
        return self._client.call(Skill, Call("GET", f"/skills/{segment(skill)}"), options)

    def delete(
        self,
        skill: str,
        *,
        options: RequestOptions | None = None,
    ) -> SkillDeleted:
        """Delete a skill.

        With all its versions. 409 `skill_in_use` while an agent uses it.

        Scope: `agents:write`.

        Args:
            skill: The skill's id or name.
        """
        return self._client.call(SkillDeleted, Call("DELETE", f"/skills/{segment(skill)}"), options)

    def versions(
        self,
        skill: str,
        *,
        limit: int | NotGiven = NOT_GIVEN,
        cursor: str | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> Pages[SkillVersion]:
        """List the versions of a skill.

        Newest first, each with its files.

        Scope: `agents:read`.

        Args:
            skill: The skill's id or name.
            limit: Versions per page.
            cursor: `next_cursor` of the page before.
        """
        return self._client.pages(
            SkillVersion,
            Call(
                "GET",
                f"/skills/{segment(skill)}/versions",
                query={"limit": limit, "cursor": cursor},
            ),
            options,
        )


class AgentSkillsOperations(Resource):
    def list(
        self,
        agent_id: str,
        *,
        options: RequestOptions | None = None,
    ) -> Pages[AgentSkill]:
        """List the skills of an agent.

        Those of the library that its machine has. Skills that the agent wrote itself are not among them.

        Scope: `agents:read`.

        Args:
            agent_id: The agent's id.
        """
        return self._client.pages(AgentSkill, Call("GET", f"/agents/{segment(agent_id)}/skills"), options)

    def get(
        self,
        agent_id: str,
        name: str,
        *,
        options: RequestOptions | None = None,
    ) -> AgentSkill:
        """Read a skill of an agent.

        Scope: `agents:read`.

        Args:
            agent_id: The agent's id.
            name: The name of the skill.
        """
        return self._client.call(
            AgentSkill,
            Call("GET", f"/agents/{segment(agent_id)}/skills/{segment(name)}"),
            options,
        )

    def put(
        self,
        agent_id: str,
        name: str,
        *,
        skill: str | NotGiven = NOT_GIVEN,
        version: int | Literal["latest"] | NotGiven = NOT_GIVEN,
        enabled: bool | NotGiven = NOT_GIVEN,
        members: Sequence[str | None] | None | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> AgentSkill:
        """Give an agent a skill.

        Replaces what is there, in every state of the agent. The next turn of every conversation has it,
        without a restart. The reply waits for the running machine, for a bounded time; `state` says how far
        it came.

        Scope: `agents:write`.

        Args:
            agent_id: The agent's id.
            name: The name of the skill.
            skill: The library's skill, by its id or its name. Its name must be that of the path; by default
                it is found by that.
            version: A version, or `latest`: then the agent has each new version as soon as it is in the
                library.
            enabled: False: kept, and not in the machine.
            members: Names of the members that have it, and null for the agent itself. Null instead of a list:
                the agent and all its members, those to come too.
        """
        return self._client.call(
            AgentSkill,
            Call(
                "PUT",
                f"/agents/{segment(agent_id)}/skills/{segment(name)}",
                body={"skill": skill, "version": version, "enabled": enabled, "members": members},
            ),
            options,
        )

    def delete(
        self,
        agent_id: str,
        name: str,
        *,
        options: RequestOptions | None = None,
    ) -> AgentSkillRemoved:
        """Take a skill from an agent.

        The library keeps it. The next turn does not have it.

        Scope: `agents:write`.

        Args:
            agent_id: The agent's id.
            name: The name of the skill.
        """
        return self._client.call(
            AgentSkillRemoved,
            Call("DELETE", f"/agents/{segment(agent_id)}/skills/{segment(name)}"),
            options,
        )


class SchedulesOperations(Resource):
    def list(
        self,
        agent_id: str,
        *,
        options: RequestOptions | None = None,
    ) -> Pages[Schedule]:
        """List the schedules of an agent.

        Scope: `agents:read`.

        Args:
            agent_id: The agent's id.
        """
        return self._client.pages(Schedule, Call("GET", f"/agents/{segment(agent_id)}/schedules"), options)

    def create(
        self,
        agent_id: str,
        *,
        name: str,
        prompt: str,
        enabled: bool | NotGiven = NOT_GIVEN,
        cron: str | NotGiven = NOT_GIVEN,
        every: str | NotGiven = NOT_GIVEN,
        at: datetime | str | NotGiven = NOT_GIVEN,
        time_zone: str | NotGiven = NOT_GIVEN,
        conversation: str | None | NotGiven = NOT_GIVEN,
        deliver: params.CreateScheduleDeliver | NotGiven = NOT_GIVEN,
        wake: bool | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> Schedule:
        """Make a schedule of an agent.

        Tells the agent something by itself, at the times of a cron expression in a time zone, at an interval,
        or once. A time that comes wakes the agent in any state but `error`. Times that passed while the
        service was down are made up for by one run; runs of a schedule never overlap; a run that fails is
        tried again up to three times. Many that are due at once begin within a minute. An agent may have 100.

        Scope: `agents:write`.

        Args:
            agent_id: The agent's id.
            prompt: What the agent is told. A line before it says which schedule it is, and for when.
            enabled: False: no time comes. It can be run by hand.
            cron: Five fields: minute, hour, day of month, month, day of week, in `time_zone`. Where clocks go
                ahead, a time that does not come comes at the end of the gap; where they go back, a time that
                comes twice is taken once. An expression with `*` or a step among minutes and hours runs by
                elapsed time instead.
            every: An interval of minutes, hours or days, from `1m` to `366d`; the first run is one interval
                from now.
            at: One time.
            time_zone: A name of the time zone database.
            conversation: The agent's conversation that the runs go on with, as `user` names it in a chat.
                Without it the schedule has one of its own.
            wake: False: an agent that does not run is left asleep, and the time is `skipped`.
        """
        return self._client.call(
            Schedule,
            Call(
                "POST",
                f"/agents/{segment(agent_id)}/schedules",
                body={
                    "name": name,
                    "enabled": enabled,
                    "cron": cron,
                    "every": every,
                    "at": at,
                    "time_zone": time_zone,
                    "prompt": prompt,
                    "conversation": conversation,
                    "deliver": deliver,
                    "wake": wake,
                },
                keyed=True,
            ),
            options,
        )

    def get(
        self,
        agent_id: str,
        schedule_id: str,
        *,
        options: RequestOptions | None = None,
    ) -> Schedule:
        """Read a schedule.

        Scope: `agents:read`.

        Args:
            agent_id: The agent's id.
            schedule_id: The schedule's id.
        """
        return self._client.call(
            Schedule,
            Call("GET", f"/agents/{segment(agent_id)}/schedules/{segment(schedule_id)}"),
            options,
        )

    def update(
        self,
        agent_id: str,
        schedule_id: str,
        *,
        name: str | NotGiven = NOT_GIVEN,
        enabled: bool | NotGiven = NOT_GIVEN,
        cron: str | NotGiven = NOT_GIVEN,
        every: str | NotGiven = NOT_GIVEN,
        at: datetime | str | NotGiven = NOT_GIVEN,
        time_zone: str | NotGiven = NOT_GIVEN,
        prompt: str | NotGiven = NOT_GIVEN,
        conversation: str | None | NotGiven = NOT_GIVEN,
        deliver: params.CreateScheduleDeliver | NotGiven = NOT_GIVEN,
        wake: bool | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> Schedule:
        """Change a schedule.

        Only what is given changes. A run that has begun goes on as it was.

        Scope: `agents:write`.

        Args:
            agent_id: The agent's id.
            schedule_id: The schedule's id.
            enabled: False: no time comes. It can be run by hand.
            cron: Five fields: minute, hour, day of month, month, day of week, in `time_zone`. Where clocks go
                ahead, a time that does not come comes at the end of the gap; where they go back, a time that
                comes twice is taken once. An expression with `*` or a step among minutes and hours runs by
                elapsed time instead.
            every: An interval of minutes, hours or days, from `1m` to `366d`; the first run is one interval
                from now.
            at: One time.
            time_zone: A name of the time zone database.
            prompt: What the agent is told. A line before it says which schedule it is, and for when.
            conversation: The agent's conversation that the runs go on with, as `user` names it in a chat.
                Without it the schedule has one of its own.
            wake: False: an agent that does not run is left asleep, and the time is `skipped`.
        """
        return self._client.call(
            Schedule,
            Call(
                "PATCH",
                f"/agents/{segment(agent_id)}/schedules/{segment(schedule_id)}",
                body={
                    "name": name,
                    "enabled": enabled,
                    "cron": cron,
                    "every": every,
                    "at": at,
                    "time_zone": time_zone,
                    "prompt": prompt,
                    "conversation": conversation,
                    "deliver": deliver,
                    "wake": wake,
                },
            ),
            options,
        )

    def delete(
        self,
        agent_id: str,
        schedule_id: str,
        *,
        options: RequestOptions | None = None,
    ) -> DeletedSchedule:
        """Remove a schedule.

        With its runs; one under way is cut.

        Scope: `agents:write`.

        Args:
            agent_id: The agent's id.
            schedule_id: The schedule's id.
        """
        return self._client.call(
            DeletedSchedule,
            Call("DELETE", f"/agents/{segment(agent_id)}/schedules/{segment(schedule_id)}"),
            options,
        )

    def run(
        self,
        agent_id: str,
        schedule_id: str,
        *,
        options: RequestOptions | None = None,
    ) -> ScheduleRun:
        """Run a schedule now.

        Enabled or not; its times stay as they are. The reply does not wait for the answer: read the run.

        Scope: `agents:write`.

        Args:
            agent_id: The agent's id.
            schedule_id: The schedule's id.
        """
        return self._client.call(
            ScheduleRun,
            Call(
                "POST",
                f"/agents/{segment(agent_id)}/schedules/{segment(schedule_id)}/run",
                body={},
                keyed=True,
            ),
            options,
        )

    def runs(
        self,
        agent_id: str,
        schedule_id: str,
        *,
        limit: int | NotGiven = NOT_GIVEN,
        cursor: str | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> Pages[ScheduleRun]:
        """List the runs of a schedule.

        Newest first; the last 200 of 90 days are kept.

        Scope: `agents:read`.

        Args:
            agent_id: The agent's id.
            schedule_id: The schedule's id.
            limit: Runs per page.
            cursor: `next_cursor` of the page before.
        """
        return self._client.pages(
            ScheduleRun,
            Call(
                "GET",
                f"/agents/{segment(agent_id)}/schedules/{segment(schedule_id)}/runs",
                query={"limit": limit, "cursor": cursor},
            ),
            options,
        )


class HooksOperations(Resource):
    def list(
        self,
        agent_id: str,
        *,
        options: RequestOptions | None = None,
    ) -> Pages[Hook]:
        """List the hooks of an agent.

        Scope: `agents:read`.

        Args:
            agent_id: The agent's id.
        """
        return self._client.pages(Hook, Call("GET", f"/agents/{segment(agent_id)}/hooks"), options)

    def create(
        self,
        agent_id: str,
        *,
        name: str,
        template: str | NotGiven = NOT_GIVEN,
        conversation: str | NotGiven = NOT_GIVEN,
        deliver: params.CreateHookDeliver | NotGiven = NOT_GIVEN,
        signature: params.CreateHookSignature | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> CreatedHook:
        """Make a hook of an agent.

        An address at which a third party's requests become messages to the agent, one turn each. The token in
        it is shown this once; with a `signature` the token alone opens nothing. `deliver` says where the
        answers go. An agent may have 20. The reply is not kept for an Idempotency-Key: it holds a secret.

        Scope: `agents:write`.

        Args:
            agent_id: The agent's id.
            template: What the agent is told, with fields of the JSON by their paths, such as
                `{{issue.title}}`; `{{list.0}}` is the first of a list. Each is put in as JSON on one line, in
                at most 4 KiB, all together in 16 KiB. Without a template the agent gets the whole JSON, in at
                most 16 KiB.
            conversation: The agent's conversation that the messages go on with, as `user` names it in a chat.
                Without it the hook has one of its own.
        """
        return self._client.call(
            CreatedHook,
            Call(
                "POST",
                f"/agents/{segment(agent_id)}/hooks",
                body={
                    "name": name,
                    "template": template,
                    "conversation": conversation,
                    "deliver": deliver,
                    "signature": signature,
                },
                keyed=True,
            ),
            options,
        )

    def delete(
        self,
        agent_id: str,
        hook_id: str,
        *,
        options: RequestOptions | None = None,
    ) -> DeletedHook:
        """Remove a hook.

        With its messages; a turn under way is cut. Its address is nothing from now on.

        Scope: `agents:write`.

        Args:
            agent_id: The agent's id.
            hook_id: The hook's id.
        """
        return self._client.call(
            DeletedHook,
            Call("DELETE", f"/agents/{segment(agent_id)}/hooks/{segment(hook_id)}"),
            options,
        )

    def messages(
        self,
        agent_id: str,
        hook_id: str,
        *,
        limit: int | NotGiven = NOT_GIVEN,
        cursor: str | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> Pages[HookMessage]:
        """List what came to a hook.

        Newest first, and what became of each, without what was sent or answered. The last 10,000 of 30 days
        are kept; a delivery that is sent again is known so long.

        Scope: `agents:read`.

        Args:
            agent_id: The agent's id.
            hook_id: The hook's id.
            limit: Messages per page.
            cursor: `next_cursor` of the page before.
        """
        return self._client.pages(
            HookMessage,
            Call(
                "GET",
                f"/agents/{segment(agent_id)}/hooks/{segment(hook_id)}/messages",
                query={"limit": limit, "cursor": cursor},
            ),
            options,
        )


class SnapshotsOperations(Resource):
    def create(
        self,
        agent_id: str,
        *,
        wait: bool | NotGiven = NOT_GIVEN,
        name: str | None | NotGiven = NOT_GIVEN,
        note: str | None | NotGiven = NOT_GIVEN,
        memory: bool | NotGiven = NOT_GIVEN,
        pinned: bool | NotGiven = NOT_GIVEN,
        expires_at: datetime | str | None | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> Snapshot:
        """Save an agent as a snapshot.

        The machine is saved as it is, memory and disk, and goes on. A running agent ends its turn first,
        within 30 s (else 409 `agent_busy`); messages that come meanwhile wait. A paused agent stays paused;
        of a stopped one nothing is copied. With `memory` false the disk alone is saved and no turn is waited
        for; an agent in `error` has no more than that. When the save fails, the agent is as it was.

        The reply comes when it is saved: 201. When that takes longer than the lifecycle wait (60 s unless set
        otherwise), or with `Prefer: respond-async` or `?wait=false`, it is 202 with the snapshot in `saving`:
        poll it then.

        Scope: `agents:write`.

        Args:
            agent_id: The agent's id.
            wait: `false`: answer 202 at once, with what is so then. Wins over the header Prefer where both
                are sent.
            note: Free text.
            memory: False: the disk alone is saved, and no turn is waited for.
            pinned: True: it outlives its agent.
            expires_at: It is deleted then; null: it is kept.
        """
        return self._client.call(
            Snapshot,
            Call(
                "POST",
                f"/agents/{segment(agent_id)}/snapshots",
                query={"wait": wait},
                body={
                    "name": name,
                    "note": note,
                    "memory": memory,
                    "pinned": pinned,
                    "expires_at": expires_at,
                },
                keyed=True,
                patience=150,
            ),
            options,
        )

    def agent(
        self,
        agent_id: str,
        *,
        limit: int | NotGiven = NOT_GIVEN,
        cursor: str | NotGiven = NOT_GIVEN,
        kind: Literal["named", "auto", "fork", "before_restore", "before_upgrade"] | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> Pages[Snapshot]:
        """List the snapshots of an agent.

        Newest first.

        Scope: `agents:read`.

        Args:
            agent_id: The agent's id.
            limit: Snapshots per page.
            cursor: `next_cursor` of the page before.
            kind: Only those of this kind.
        """
        return self._client.pages(
            Snapshot,
            Call(
                "GET",
                f"/agents/{segment(agent_id)}/snapshots",
                query={"limit": limit, "cursor": cursor, "kind": kind},
            ),
            options,
        )

    def list(
        self,
        *,
        limit: int | NotGiven = NOT_GIVEN,
        cursor: str | NotGiven = NOT_GIVEN,
        kind: Literal["named", "auto", "fork", "before_restore", "before_upgrade"] | NotGiven = NOT_GIVEN,
        agent_id: str | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> Pages[Snapshot]:
        """List snapshots.

        Those of all agents of the account, and pinned ones of agents that were deleted. Newest first.

        Scope: `agents:read`.

        Args:
            limit: Snapshots per page.
            cursor: `next_cursor` of the page before.
            kind: Only those of this kind.
            agent_id: Only those of this agent, which may be deleted.
        """
        return self._client.pages(
            Snapshot,
            Call(
                "GET",
                "/snapshots",
                query={"limit": limit, "cursor": cursor, "kind": kind, "agent_id": agent_id},
            ),
            options,
        )

    def get(
        self,
        snapshot: str,
        *,
        options: RequestOptions | None = None,
    ) -> Snapshot:
        """Read a snapshot.

        Scope: `agents:read`.

        Args:
            snapshot: The snapshot's id.
        """
        return self._client.call(Snapshot, Call("GET", f"/snapshots/{segment(snapshot)}"), options)

    def update(
        self,
        snapshot: str,
        *,
        name: str | None | NotGiven = NOT_GIVEN,
        note: str | None | NotGiven = NOT_GIVEN,
        pinned: bool | NotGiven = NOT_GIVEN,
        expires_at: datetime | str | None | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> Snapshot:
        """Change a snapshot.

        Its name, note, pin and expiry. What was saved never changes.

        Scope: `agents:write`.

        Args:
            snapshot: The snapshot's id.
            note: Free text.
            pinned: True: it outlives its agent.
            expires_at: It is deleted then; null: it is kept.
        """
        return self._client.call(
            Snapshot,
            Call(
                "PATCH",
                f"/snapshots/{segment(snapshot)}",
                body={"name": name, "note": note, "pinned": pinned, "expires_at": expires_at},
            ),
            options,
        )

    def delete(
        self,
        snapshot: str,
        *,
        options: RequestOptions | None = None,
    ) -> DeletedSnapshot:
        """Delete a snapshot.

        Agents that were started from it go on.

        Scope: `agents:write`.

        Args:
            snapshot: The snapshot's id.
        """
        return self._client.call(DeletedSnapshot, Call("DELETE", f"/snapshots/{segment(snapshot)}"), options)

    def restore(
        self,
        agent_id: str,
        *,
        snapshot: str,
        wait: bool | NotGiven = NOT_GIVEN,
        save_present: bool | NotGiven = NOT_GIVEN,
        memory: bool | NotGiven = NOT_GIVEN,
        paths: Sequence[str] | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> Agent:
        """Take an agent back to a snapshot.

        The present is saved first, as a snapshot of the kind `before_restore` that is kept for 30 days; for
        that the turn in hand ends, within 30 s (else 409 `agent_busy`). Then the machine is that of the
        snapshot, memory and disk, with the runtime's version of then. A running agent, a paused one and one
        in `error` run afterwards; a stopped one stays stopped, and its next start begins from the snapshot.
        Only the machine goes back: settings, schedules, channels, queues and usage stay, and settings are
        applied again. The agent's next turn begins with a line that says so.

        Memory that does not load leaves its disk, which is booted. When that does not start either, the
        present comes back and the reply is a 500 that says why.

        With `paths` only those files and folders of the workspace are copied into the agent, which must run:
        each file by a rename, with its permissions; later files stay, and nothing is written when one is
        missing. One request copies at most 10,000 files.

        The reply comes when that is done: 200. When it takes longer than the lifecycle wait (60 s unless set
        otherwise), or with `Prefer: respond-async` or `?wait=false`, it is 202 with the record as it is: poll
        the agent then.

        Scope: `agents:write`.

        Args:
            agent_id: The agent's id.
            snapshot: Id of a snapshot of this agent, or `before_last_turn`: the newest one that was saved
                before its last turn began.
            wait: `false`: answer 202 at once, with what is so then. Wins over the header Prefer where both
                are sent.
            save_present: False: the present is not saved first. The turn in hand is cut off, and nothing
                comes back if the snapshot does not start.
            memory: False: the disk of the snapshot is booted, without its memory.
            paths: Files and folders of the workspace. They alone are copied from the snapshot into the
                running agent, whose machine goes on; nothing else goes back.
        """
        return self._client.call(
            Agent,
            Call(
                "POST",
                f"/agents/{segment(agent_id)}/restore",
                query={"wait": wait},
                body={
                    "snapshot": snapshot,
                    "save_present": save_present,
                    "memory": memory,
                    "paths": paths,
                },
                keyed=True,
                patience=150,
            ),
            options,
        )

    def diff(
        self,
        snapshot: str,
        *,
        to: str | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> SnapshotDiff:
        """Compare the workspace of a snapshot.

        The files that were added, removed or changed from the snapshot to another one, or to its agent as it
        is now. Files are compared by type, size and time of the last change. A paused agent is resumed for
        `to=now`; a stopped one answers 409: compare two of its snapshots instead.

        Scope: `agents:read`.

        Args:
            snapshot: The snapshot's id.
            to: Another snapshot of the account, or `now`: the agent of the snapshot as it is, which must run.
        """
        return self._client.call(
            SnapshotDiff,
            Call("GET", f"/snapshots/{segment(snapshot)}/diff", query={"to": to}),
            options,
        )


class ResponsesOperations(Resource):
    def create(
        self,
        agent_id: str,
        *,
        input: str | Sequence[Mapping[str, Any]],
        wake: bool | NotGiven = NOT_GIVEN,
        user: str | None | NotGiven = NOT_GIVEN,
        previous_response_id: str | None | NotGiven = NOT_GIVEN,
        model: str | None | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
        **more: Any,
    ) -> AgentResponse:
        """Have an agent respond.

        OpenAI's Responses API. With `stream: true` the reply is `text/event-stream`: OpenAI's events, the
        last of them `response.completed`; comments while the agent works; a call that waits for its owner's
        yes is an item `mcp_approval_request`, whose id is the confirmation's, and an item
        `mcp_approval_response` of a next request's input decides, with the scope `agents:write`; a failure in
        its midst is the event `error`. The same `user` is the same conversation as in chat completions, and
        `tools` are the agent's own there and here. Closing the connection cancels the turn. Waking is as in
        chat completions.

        Scope: `agents:write` or `agents:chat`.

        Args:
            agent_id: The agent's id.
            input: OpenAI's input: a text, or items. In a conversation that goes on only the new ones are
                needed.
            wake: `true`: a stopped agent is started first. A paused one is resumed in any case.
            user: Names a conversation that the agent remembers. The header X-Conversation-Id does the same.
            previous_response_id: Goes on with the conversation of that response, which must be one of the
                same agent or member; wins over `user`. The conversation goes on where it is by now.
            model: `<agent id>/<member>` for a member; any other name means the agent that the path names.
        """
        return self._client.call(
            AgentResponse,
            Call(
                "POST",
                f"/agents/{segment(agent_id)}/responses",
                query={"wake": wake},
                body={
                    "input": input,
                    "user": user,
                    "previous_response_id": previous_response_id,
                    "model": model,
                    **more,
                },
                patience=1860,
            ),
            options,
        )

    def stream(
        self,
        agent_id: str,
        *,
        input: str | Sequence[Mapping[str, Any]],
        wake: bool | NotGiven = NOT_GIVEN,
        user: str | None | NotGiven = NOT_GIVEN,
        previous_response_id: str | None | NotGiven = NOT_GIVEN,
        model: str | None | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
        **more: Any,
    ) -> Stream[ResponseEvent]:
        """Have an agent respond.

        OpenAI's Responses API. With `stream: true` the reply is `text/event-stream`: OpenAI's events, the
        last of them `response.completed`; comments while the agent works; a call that waits for its owner's
        yes is an item `mcp_approval_request`, whose id is the confirmation's, and an item
        `mcp_approval_response` of a next request's input decides, with the scope `agents:write`; a failure in
        its midst is the event `error`. The same `user` is the same conversation as in chat completions, and
        `tools` are the agent's own there and here. Closing the connection cancels the turn. Waking is as in
        chat completions.

        Scope: `agents:write` or `agents:chat`.

        As an iterator of what comes. Leave it by `close`, or use it in a `with`: the server then stops.

        Args:
            agent_id: The agent's id.
            input: OpenAI's input: a text, or items. In a conversation that goes on only the new ones are
                needed.
            wake: `true`: a stopped agent is started first. A paused one is resumed in any case.
            user: Names a conversation that the agent remembers. The header X-Conversation-Id does the same.
            previous_response_id: Goes on with the conversation of that response, which must be one of the
                same agent or member; wins over `user`. The conversation goes on where it is by now.
            model: `<agent id>/<member>` for a member; any other name means the agent that the path names.
        """
        return self._client.stream(
            response_event,
            Call(
                "POST",
                f"/agents/{segment(agent_id)}/responses",
                query={"wake": wake},
                body={
                    "input": input,
                    "user": user,
                    "previous_response_id": previous_response_id,
                    "model": model,
                    "stream": True,
                    **more,
                },
            ),
            options,
        )

    def create_for(
        self,
        *,
        input: str | Sequence[Mapping[str, Any]],
        model: str,
        wake: bool | NotGiven = NOT_GIVEN,
        user: str | None | NotGiven = NOT_GIVEN,
        previous_response_id: str | None | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
        **more: Any,
    ) -> AgentResponse:
        """Have the agent respond that `model` names.

        OpenAI's Responses API. With `stream: true` the reply is `text/event-stream`: OpenAI's events, the
        last of them `response.completed`; comments while the agent works; a call that waits for its owner's
        yes is an item `mcp_approval_request`, whose id is the confirmation's, and an item
        `mcp_approval_response` of a next request's input decides, with the scope `agents:write`; a failure in
        its midst is the event `error`. The same `user` is the same conversation as in chat completions, and
        `tools` are the agent's own there and here. Closing the connection cancels the turn. Waking is as in
        chat completions.

        Scope: `agents:write` or `agents:chat`.

        Args:
            input: OpenAI's input: a text, or items. In a conversation that goes on only the new ones are
                needed.
            model: The agent's id, or `<agent id>/<member>`.
            wake: `true`: a stopped agent is started first. A paused one is resumed in any case.
            user: Names a conversation that the agent remembers. The header X-Conversation-Id does the same.
            previous_response_id: Goes on with the conversation of that response, which must be one of the
                same agent or member; wins over `user`. The conversation goes on where it is by now.
        """
        return self._client.call(
            AgentResponse,
            Call(
                "POST",
                "/responses",
                query={"wake": wake},
                body={
                    "input": input,
                    "user": user,
                    "previous_response_id": previous_response_id,
                    "model": model,
                    **more,
                },
                patience=1860,
            ),
            options,
        )

    def stream_for(
        self,
        *,
        input: str | Sequence[Mapping[str, Any]],
        model: str,
        wake: bool | NotGiven = NOT_GIVEN,
        user: str | None | NotGiven = NOT_GIVEN,
        previous_response_id: str | None | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
        **more: Any,
    ) -> Stream[ResponseEvent]:
        """Have the agent respond that `model` names.

        OpenAI's Responses API. With `stream: true` the reply is `text/event-stream`: OpenAI's events, the
        last of them `response.completed`; comments while the agent works; a call that waits for its owner's
        yes is an item `mcp_approval_request`, whose id is the confirmation's, and an item
        `mcp_approval_response` of a next request's input decides, with the scope `agents:write`; a failure in
        its midst is the event `error`. The same `user` is the same conversation as in chat completions, and
        `tools` are the agent's own there and here. Closing the connection cancels the turn. Waking is as in
        chat completions.

        Scope: `agents:write` or `agents:chat`.

        As an iterator of what comes. Leave it by `close`, or use it in a `with`: the server then stops.

        Args:
            input: OpenAI's input: a text, or items. In a conversation that goes on only the new ones are
                needed.
            model: The agent's id, or `<agent id>/<member>`.
            wake: `true`: a stopped agent is started first. A paused one is resumed in any case.
            user: Names a conversation that the agent remembers. The header X-Conversation-Id does the same.
            previous_response_id: Goes on with the conversation of that response, which must be one of the
                same agent or member; wins over `user`. The conversation goes on where it is by now.
        """
        return self._client.stream(
            response_event,
            Call(
                "POST",
                "/responses",
                query={"wake": wake},
                body={
                    "input": input,
                    "user": user,
                    "previous_response_id": previous_response_id,
                    "model": model,
                    "stream": True,
                    **more,
                },
            ),
            options,
        )


class AccountOperations(Resource):
    def get(
        self,
        *,
        options: RequestOptions | None = None,
    ) -> Account:
        """Read the account of the key."""
        return self._client.call(Account, Call("GET", "/account"), options)

    def update(
        self,
        *,
        record_llm_calls: bool,
        options: RequestOptions | None = None,
    ) -> Account:
        """Change the account of the key.

        Holds from the next model call on. Turned off, nothing more is kept, calls under way among it; what
        was kept stays for its time.

        Scope: `agents:write`.

        Args:
            record_llm_calls: Whether what is said in model calls of its agents is kept for some days, for
                every key with the scope `usage:read`. False by default.
        """
        return self._client.call(
            Account,
            Call("PATCH", "/account", body={"record_llm_calls": record_llm_calls}),
            options,
        )

    def options(
        self,
        *,
        options: RequestOptions | None = None,
    ) -> AccountOptions:
        """Read what the account area offers."""
        return self._client.call(AccountOptions, Call("GET", "/account/options"), options)

    def session(
        self,
        *,
        options: RequestOptions | None = None,
    ) -> SessionBody:
        """Read the session of this browser.

        `csrf_token` is what every change by this session carries in `X-CSRF-Token`.
        """
        return self._client.call(SessionBody, Call("GET", "/account/session"), options)

    def sign_in(
        self,
        *,
        email: str,
        password: str,
        code: str | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> SessionBody:
        """Sign in.

        Sets the cookie of a new session. Attempts are counted by e-mail and by address; after a few wrong
        ones each wait is twice the last.
        """
        return self._client.call(
            SessionBody,
            Call(
                "POST",
                "/account/sign-in",
                body={"email": email, "password": password, "code": code},
            ),
            options,
        )

    def sign_out(
        self,
        *,
        options: RequestOptions | None = None,
    ) -> dict[str, Any]:
        """End the session of this browser."""
        return self._client.call_object(Call("POST", "/account/sign-out", body={}), options)

    def sessions(
        self,
        *,
        options: RequestOptions | None = None,
    ) -> SessionList:
        """List the sessions of the account."""
        return self._client.call(SessionList, Call("GET", "/account/sessions"), options)

    def end_other_sessions(
        self,
        *,
        options: RequestOptions | None = None,
    ) -> dict[str, Any]:
        """End every other session."""
        return self._client.call_object(Call("DELETE", "/account/sessions"), options)

    def end_session(
        self,
        session_id: str,
        *,
        options: RequestOptions | None = None,
    ) -> dict[str, Any]:
        """End a session."""
        return self._client.call_object(Call("DELETE", f"/account/sessions/{segment(session_id)}"), options)

    def read_link(
        self,
        *,
        token: str,
        options: RequestOptions | None = None,
    ) -> AccountLink:
        """Read what a link is for."""
        return self._client.call(AccountLink, Call("POST", "/account/links", body={"token": token}), options)

    def set_up(
        self,
        *,
        token: str,
        email: str,
        name: str,
        password: str,
        options: RequestOptions | None = None,
    ) -> SessionBody:
        """Make the first account yours."""
        return self._client.call(
            SessionBody,
            Call(
                "POST",
                "/account/setup",
                body={"token": token, "email": email, "name": name, "password": password},
            ),
            options,
        )

    def accept_invitation(
        self,
        *,
        token: str,
        email: str,
        name: str,
        password: str,
        options: RequestOptions | None = None,
    ) -> SessionBody:
        """Accept an invitation."""
        return self._client.call(
            SessionBody,
            Call(
                "POST",
                "/account/invitations/accept",
                body={"token": token, "email": email, "name": name, "password": password},
            ),
            options,
        )

    def register(
        self,
        *,
        email: str,
        name: str,
        password: str,
        options: RequestOptions | None = None,
    ) -> SessionBody:
        """Make an account.

        Where the operator lets anyone: `registration_open` of the options says so.
        """
        return self._client.call(
            SessionBody,
            Call(
                "POST",
                "/account/register",
                body={"email": email, "name": name, "password": password},
            ),
            options,
        )

    def change_password(
        self,
        *,
        current_password: str,
        new_password: str,
        options: RequestOptions | None = None,
    ) -> SessionBody:
        """Change the password.

        Ends every session and every visit of an agent; this browser gets a new session.
        """
        return self._client.call(
            SessionBody,
            Call(
                "POST",
                "/account/password",
                body={"current_password": current_password, "new_password": new_password},
            ),
            options,
        )

    def reset_password(
        self,
        *,
        token: str,
        password: str,
        code: str | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> SessionBody:
        """Set a password by the operator's link.

        Ends every session and every visit of an agent; this browser gets a new session.
        """
        return self._client.call(
            SessionBody,
            Call(
                "POST",
                "/account/password-reset",
                body={"token": token, "password": password, "code": code},
            ),
            options,
        )

    def begin_totp(
        self,
        *,
        password: str,
        options: RequestOptions | None = None,
    ) -> TotpBegun:
        """Begin a second factor.

        It is in force once a code of it was confirmed.
        """
        return self._client.call(
            TotpBegun,
            Call("POST", "/account/totp", body={"password": password}),
            options,
        )

    def remove_totp(
        self,
        *,
        password: str,
        code: str,
        options: RequestOptions | None = None,
    ) -> dict[str, Any]:
        """Take the second factor off."""
        return self._client.call_object(
            Call("DELETE", "/account/totp", body={"password": password, "code": code}),
            options,
        )

    def confirm_totp(
        self,
        *,
        code: str,
        options: RequestOptions | None = None,
    ) -> RecoveryCodes:
        """Put the second factor in force."""
        return self._client.call(
            RecoveryCodes,
            Call("POST", "/account/totp/confirm", body={"code": code}),
            options,
        )

    def spend(
        self,
        *,
        options: RequestOptions | None = None,
    ) -> AccountSpend:
        """Read what the account has spent and may spend.

        Scope: `usage:read`.
        """
        return self._client.call(AccountSpend, Call("GET", "/account/spend"), options)

    def device_request(
        self,
        *,
        user_code: str,
        options: RequestOptions | None = None,
    ) -> DeviceRequest:
        """Read which machine waits with a code."""
        return self._client.call(
            DeviceRequest,
            Call("POST", "/account/device", body={"user_code": user_code}),
            options,
        )

    def decide_device_request(
        self,
        *,
        user_code: str,
        approve: bool,
        scopes: Sequence[Literal["agents:read", "agents:write", "agents:delete", "usage:read", "agents:chat", "keys:write"]] | None | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> dict[str, Any]:
        """Give a machine an API key, or refuse it.

        Args:
            scopes: Those that the key gets, of those that were asked for. Only with `approve`.
        """
        return self._client.call_object(
            Call(
                "POST",
                "/account/device/decision",
                body={"user_code": user_code, "approve": approve, "scopes": scopes},
            ),
            options,
        )

    def authorization(
        self,
        *,
        client_id: str,
        redirect_uri: str,
        response_type: str,
        code_challenge: str,
        code_challenge_method: str,
        scope: str | None | NotGiven = NOT_GIVEN,
        state: str | None | NotGiven = NOT_GIVEN,
        resource: str | None | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> AuthorizationRequest:
        """Read which program asks for access."""
        return self._client.call(
            AuthorizationRequest,
            Call(
                "POST",
                "/account/authorization",
                body={
                    "client_id": client_id,
                    "redirect_uri": redirect_uri,
                    "response_type": response_type,
                    "code_challenge": code_challenge,
                    "code_challenge_method": code_challenge_method,
                    "scope": scope,
                    "state": state,
                    "resource": resource,
                },
            ),
            options,
        )

    def decide_authorization(
        self,
        *,
        client_id: str,
        redirect_uri: str,
        response_type: str,
        code_challenge: str,
        code_challenge_method: str,
        approve: bool,
        scope: str | None | NotGiven = NOT_GIVEN,
        state: str | None | NotGiven = NOT_GIVEN,
        resource: str | None | NotGiven = NOT_GIVEN,
        scopes: Sequence[Literal["agents:read", "agents:write", "agents:delete", "usage:read", "agents:chat", "keys:write"]] | None | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> AuthorizationAnswer:
        """Give a program access, or refuse it.

        Args:
            scopes: Those that the program gets. Only with `approve`.
        """
        return self._client.call(
            AuthorizationAnswer,
            Call(
                "POST",
                "/account/authorization/decision",
                body={
                    "client_id": client_id,
                    "redirect_uri": redirect_uri,
                    "response_type": response_type,
                    "code_challenge": code_challenge,
                    "code_challenge_method": code_challenge_method,
                    "scope": scope,
                    "state": state,
                    "resource": resource,
                    "approve": approve,
                    "scopes": scopes,
                },
            ),
            options,
        )

    def grants(
        self,
        *,
        options: RequestOptions | None = None,
    ) -> GrantList:
        """List the programs that have access."""
        return self._client.call(GrantList, Call("GET", "/account/grants"), options)

    def revoke_grant(
        self,
        grant_id: str,
        *,
        options: RequestOptions | None = None,
    ) -> Grant:
        """Revoke the access of a program."""
        return self._client.call(Grant, Call("DELETE", f"/account/grants/{segment(grant_id)}"), options)


class KeysOperations(Resource):
    def current(
        self,
        *,
        options: RequestOptions | None = None,
    ) -> ApiKey:
        """Read the API key of this request."""
        return self._client.call(ApiKey, Call("GET", "/account/keys/current"), options)

    def revoke_current(
        self,
        *,
        options: RequestOptions | None = None,
    ) -> ApiKey:
        """Revoke the API key of this request.

        With the keys that it made. Signs a program out.
        """
        return self._client.call(ApiKey, Call("DELETE", "/account/keys/current"), options)

    def list(
        self,
        *,
        options: RequestOptions | None = None,
    ) -> ApiKeyList:
        """List the API keys of the account.

        An API key needs the scope `keys:write`; every person signed in may do it.
        """
        return self._client.call(ApiKeyList, Call("GET", "/account/keys"), options)

    def create(
        self,
        *,
        name: str,
        scopes: Sequence[Literal["agents:read", "agents:write", "agents:delete", "usage:read", "agents:chat", "keys:write"]],
        expires_at: datetime | str | None | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> CreatedApiKey:
        """Make an API key.

        With scopes that the role of its person has. A key makes keys with at most its own scopes, which
        expire with it at the latest and are revoked with it.

        An API key needs the scope `keys:write`; every person signed in may do it.

        Args:
            scopes: None that the role of its person, or the key that makes it, lacks.
            expires_at: Null: never. A key that a key makes expires with it at the latest, and by default.
        """
        return self._client.call(
            CreatedApiKey,
            Call(
                "POST",
                "/account/keys",
                body={"name": name, "scopes": scopes, "expires_at": expires_at},
                keyed=True,
            ),
            options,
        )

    def revoke(
        self,
        key_id: str,
        *,
        options: RequestOptions | None = None,
    ) -> ApiKey:
        """Revoke an API key.

        With the keys that it made.

        An API key needs the scope `keys:write`; every person signed in may do it.
        """
        return self._client.call(ApiKey, Call("DELETE", f"/account/keys/{segment(key_id)}"), options)


class PeopleOperations(Resource):
    def list(
        self,
        *,
        options: RequestOptions | None = None,
    ) -> PersonList:
        """List the people of the deployment.

        For an owner.
        """
        return self._client.call(PersonList, Call("GET", "/account/people"), options)

    def invitations(
        self,
        *,
        options: RequestOptions | None = None,
    ) -> InvitationList:
        """List invitations.

        For an owner.
        """
        return self._client.call(InvitationList, Call("GET", "/account/invitations"), options)

    def invite(
        self,
        *,
        email: str | None | NotGiven = NOT_GIVEN,
        role: Literal["member", "viewer"] | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> CreatedInvitation:
        """Invite somebody.

        For an owner. Makes a link that works once, for 7 days.

        Args:
            email: The only one that may accept it; null: whoever has the link.
            role: Of the account that it makes.
        """
        return self._client.call(
            CreatedInvitation,
            Call("POST", "/account/invitations", body={"email": email, "role": role}),
            options,
        )

    def end_invitation(
        self,
        invitation_id: str,
        *,
        options: RequestOptions | None = None,
    ) -> dict[str, Any]:
        """Take an invitation back.

        For an owner.
        """
        return self._client.call_object(
            Call("DELETE", f"/account/invitations/{segment(invitation_id)}"),
            options,
        )

    def set_spend_limit(
        self,
        person_id: str,
        *,
        spend_limit: params.SpendLimitInput | None,
        options: RequestOptions | None = None,
    ) -> dict[str, Any]:
        """Limit what an account spends.

        For an owner, of any account. Null: what the deployment says.
        """
        return self._client.call_object(
            Call(
                "PUT",
                f"/account/people/{segment(person_id)}/spend-limit",
                body={"spend_limit": spend_limit},
            ),
            options,
        )


class OauthOperations(Resource):
    def device_authorization(
        self,
        *,
        client_name: str,
        scope: str | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> DeviceAuthorization:
        """Begin to sign a machine in.

        For programs without a browser (RFC 8628). Show the person `user_code` and `verification_uri`, and ask
        the token endpoint every `interval` seconds. The person compares the codes and gives an API key with
        the scopes that they choose. A form or JSON.

        Args:
            client_name: Whom the person gives a key, such as the machine's name. The key gets this name.
            scope: Scopes with one space between two: agents:read, agents:write, agents:delete, usage:read,
                agents:chat, keys:write. Without it all but `keys:write`. The person may give less.
        """
        return self._client.call(
            DeviceAuthorization,
            Call(
                "POST",
                "/oauth/device_authorization",
                body={"client_name": client_name, "scope": scope},
            ),
            options,
        )

    def token(
        self,
        *,
        grant_type: str,
        device_code: str | NotGiven = NOT_GIVEN,
        client_id: str | NotGiven = NOT_GIVEN,
        code: str | NotGiven = NOT_GIVEN,
        redirect_uri: str | NotGiven = NOT_GIVEN,
        code_verifier: str | NotGiven = NOT_GIVEN,
        refresh_token: str | NotGiven = NOT_GIVEN,
        scope: str | NotGiven = NOT_GIVEN,
        resource: str | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> Token:
        """Fetch a key or a token.

        A form, as RFC 6749 has it, or JSON. Errors are `{"error", "error_description"}`. With a code, access
        for an hour and a refresh token, which is replaced with each use. With a device code:
        `authorization_pending` until the person has decided, `slow_down` where it is asked too often.

        Args:
            grant_type: One of urn:ietf:params:oauth:grant-type:device_code, authorization_code,
                refresh_token.
            device_code: The code of `device_authorization`.
            client_id: Of the client that asked. Ignored for a device code.
            code: The code of the authorization.
            redirect_uri: The address that the code came to.
            code_verifier: The verifier of the challenge (RFC 7636).
            refresh_token: The newest one. One that was exchanged before ends the access.
            scope: Fewer scopes than were given, for a refreshed token.
            resource: What the token is for (RFC 8707).
        """
        return self._client.call(
            Token,
            Call(
                "POST",
                "/oauth/token",
                body={
                    "grant_type": grant_type,
                    "device_code": device_code,
                    "client_id": client_id,
                    "code": code,
                    "redirect_uri": redirect_uri,
                    "code_verifier": code_verifier,
                    "refresh_token": refresh_token,
                    "scope": scope,
                    "resource": resource,
                },
            ),
            options,
        )

    def register(
        self,
        *,
        redirect_uris: Sequence[str],
        client_name: str | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> OAuthClient:
        """Register a program.

        For programs that act for a person, such as MCP clients (RFC 7591). They have no secret and use PKCE.
        A program that nobody agreed to is forgotten after a week.

        Args:
            redirect_uris: https, http to the loopback with any port, or a scheme made from a domain's name.
                Answers go to exactly these.
            client_name: What the person reads, up to 100 characters.
        """
        return self._client.call(
            OAuthClient,
            Call(
                "POST",
                "/oauth/register",
                body={"redirect_uris": redirect_uris, "client_name": client_name},
            ),
            options,
        )

    def revoke(
        self,
        *,
        token: str,
        client_id: str,
        options: RequestOptions | None = None,
    ) -> dict[str, Any]:
        """Revoke a token.

        Ends the access that a token belongs to, with all its tokens (RFC 7009). A token that is none is
        answered alike. A form or JSON.

        Args:
            token: An access or a refresh token.
        """
        return self._client.call_object(
            Call("POST", "/oauth/revoke", body={"token": token, "client_id": client_id}),
            options,
        )
