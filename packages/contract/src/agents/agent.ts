import { Type } from 'typebox';
import type { Static } from 'typebox';
import {
  agentStatuses,
  channelNames,
  channelStatuses,
  keepAwakeModes,
  runtimeKinds,
  sizeNames,
  verbs,
} from '@lodge/domain';
import { SpendLimit } from '../account/spend.ts';
import { Egress } from './egress.ts';
import { ConfirmationRules } from './confirmation-rules.ts';
import { Packages } from './packages.ts';
import { SnapshotPlan } from './snapshots.ts';
import { Variables } from './variables.ts';
import { SecretFingerprint } from '../fingerprints.ts';
import { Labels, Metadata, Timestamp, listOf, nullable, oneOf, patterns } from '../text.ts';

/** One year, which is longer than any agent idles on purpose. */
const maxSeconds = 31_536_000;

const lifecycle = {
  idle_timeout_seconds: Type.Integer({
    minimum: 0,
    maximum: maxSeconds,
    description: 'Idle for this long, a running agent is paused; 0 is never.',
  }),
  stop_after_seconds: Type.Integer({
    minimum: 0,
    maximum: maxSeconds,
    description: 'Paused for this long, an agent is stopped.',
  }),
  keep_awake: oneOf(keepAwakeModes, { description: '`auto`: an idle agent sleeps. `always`: it does not.' }),
  auto_resume: Type.Boolean({ description: 'A request wakes a paused agent.' }),
  auto_start: Type.Boolean({ description: 'A request starts a stopped agent.' }),
  wake_on_message: Type.Boolean({ description: 'A message on a channel wakes the agent.' }),
};

export const Lifecycle = Type.Object(lifecycle, { title: 'Lifecycle', additionalProperties: false });
export type Lifecycle = Static<typeof Lifecycle>;

const StatusReason = Type.Object(
  {
    code: Type.String({ examples: ['waiting_for_template'] }),
    message: Type.String(),
    at: Timestamp,
  },
  { additionalProperties: false, description: 'Why the agent is in its status; always set in `error`.' },
);

const AgentLlmKey = Type.Object(
  {
    provider: Type.String({ examples: ['anthropic'] }),
    last4: Type.String({ description: 'The last four characters of the key.', examples: ['h3Qw'] }),
    fingerprint: SecretFingerprint,
    created_at: Timestamp,
  },
  { additionalProperties: false },
);

const Runtime = Type.Object(
  { name: Type.String({ examples: ['openclaw'] }), version: Type.String({ examples: ['2026.9.6'] }) },
  {
    additionalProperties: false,
    description: 'What runs in the VM, in the version that it has there; null when this deployment does not offer it.',
  },
);

export const Machine = Type.Object(
  { vcpus: Type.Integer(), memory_mb: Type.Integer(), disk_gb: Type.Integer() },
  {
    title: 'Machine',
    additionalProperties: false,
    description: 'The machine as it is. Where it is not what `size` says, the new size is taken with the next start.',
  },
);

const Disk = Type.Object(
  {
    limit_gb: Type.Number({ description: 'Size of the disk as the machine sees it.', examples: [10] }),
    used_gb: nullable(
      Type.Number({
        description:
          'What the agent has written to it, as looked at in the last seconds; null while that is not known here.',
        examples: [0.42],
      }),
    ),
  },
  { title: 'Disk', additionalProperties: false },
);

const Transition = Type.Object(
  { kind: oneOf(verbs), started_at: Timestamp },
  {
    additionalProperties: false,
    description:
      'The change of the machine that is under way; null when none is. A snapshot changes nothing; going back to one counts as a restart.',
  },
);

const ForkedFrom = Type.Object(
  {
    agent_id: Type.String({ pattern: patterns.agentId, examples: ['k7d2m9q4x1ab'] }),
    snapshot_id: Type.String({ pattern: patterns.agentId, examples: ['s4k8m2q9t1ab'] }),
    at: Timestamp,
  },
  {
    title: 'ForkedFrom',
    additionalProperties: false,
    description:
      'The snapshot that it was made from, the agent that this is of, and when it was saved. Either may be gone by now.',
  },
);

export const Agent = Type.Object(
  {
    object: Type.Literal('agent'),
    id: Type.String({ pattern: patterns.agentId, examples: ['k7d2m9q4x1ab'] }),
    name: Type.String({ examples: ['Support bot'] }),
    description: nullable(Type.String()),
    instructions: nullable(Type.String({ description: 'Who the agent is and how it works.' })),
    settings_pending: Type.Boolean({
      description:
        'Whether the machine has yet to take over instructions, members, dashboard, browser, egress, variables, skills or packages as they are now: within seconds while it runs, packages within minutes, else at its next start.',
    }),
    status: oneOf(agentStatuses),
    status_reason: nullable(StatusReason),
    transition: nullable(Transition),
    runtime_kind: oneOf(runtimeKinds),
    runtime: nullable(Runtime),
    upgrade_available: Type.Boolean({
      description:
        'A newer image is ready than the one the agent was made from: `POST /v1/agents/:id/upgrade` moves it.',
    }),
    model: Type.String({ examples: ['anthropic/claude-sonnet-5'] }),
    size: oneOf(sizeNames, { description: 'The size asked for.' }),
    machine: Machine,
    disk: Disk,
    url: Type.String({ examples: ['http://openclaw-k7d2m9q4x1ab.agents.localhost:8080'] }),
    dashboard_url: nullable(Type.String()),
    browser: Type.Boolean({ description: 'Whether it has a browser in its machine.' }),
    llm_keys: Type.Array(AgentLlmKey),
    channels: Type.Array(
      Type.Object({ channel: oneOf(channelNames), status: oneOf(channelStatuses) }, { additionalProperties: false }),
    ),
    lifecycle: Lifecycle,
    spend_limit: nullable(SpendLimit),
    egress: Egress,
    env: Variables,
    packages: Packages,
    packages_error: nullable(
      Type.String({
        description: 'Why the packages are not installed; null while nothing has failed. It is tried again.',
        examples: ['apt did not install its packages: it ended with status 100.'],
      }),
    ),
    confirmations: nullable(ConfirmationRules),
    models: nullable(
      Type.Array(Type.String(), {
        description: "Models that it may call beside its own and its members'; null: any.",
      }),
    ),
    peers: Type.Array(Type.String(), {
      description: 'Ids of agents that it may ask with its tool `ask_agent`; `*` for all of the account.',
      examples: [['*']],
    }),
    snapshots: SnapshotPlan,
    forked_from: nullable(ForkedFrom),
    labels: Labels,
    metadata: Metadata,
    created_at: Timestamp,
    updated_at: Timestamp,
    started_at: nullable(Timestamp),
    paused_at: nullable(Timestamp),
    stopped_at: nullable(Timestamp),
    last_active_at: nullable(Timestamp),
  },
  { title: 'Agent', additionalProperties: false },
);
export type Agent = Static<typeof Agent>;

export const AgentList = listOf(Agent, 'AgentList');
export type AgentList = Static<typeof AgentList>;

export const DeletedAgent = Type.Object(
  { object: Type.Literal('agent.deleted'), id: Type.String(), deleted: Type.Literal(true) },
  { title: 'DeletedAgent', additionalProperties: false },
);
