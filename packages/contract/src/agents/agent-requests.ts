import { Type } from 'typebox';
import type { Static } from 'typebox';
import {
  abilitiesOf,
  agentStatuses,
  kindsWith,
  maxPeers,
  runtimeKindNames,
  runtimeKinds,
  sizeNames,
} from '@lodge/domain';
import { Lifecycle } from './agent.ts';
import { SpendLimitInput } from '../account/spend.ts';
import { EgressInput } from './egress.ts';
import { ChannelsInput, VerifyQuery } from './channel-input.ts';
import { ConfirmationRulesInput } from './confirmation-rules.ts';
import { PackagesInput } from './packages.ts';
import { SnapshotPlanInput } from './snapshots.ts';
import { VariablesInput } from './variables.ts';
import { Instructions } from './instructions.ts';
import { SnapshotIdInput } from './snapshot-id.ts';
import { goesWith, withRules } from '../rules.ts';
import { LabelKey, Labels, Metadata, nullable, oneOf, pageCursor, patterns } from '../text.ts';

/** A flag in a query, where every value is text. */
const flag = (description: string) => oneOf(['true', 'false'], { description });

const otherNames = `${runtimeKinds
  .map((kind, n) => `\`${abilitiesOf(kind).name}\` ${n === 0 ? 'is another name ' : ''}for \`${kind}\``)
  .join(', ')}.`;

const RuntimeKindInput = oneOf(runtimeKindNames, {
  description: otherNames,
});

export const LlmKeyInput = Type.Object(
  {
    provider: Type.String({
      minLength: 1,
      maxLength: 64,
      pattern: patterns.text,
      description: 'An id of `GET /v1/providers`.',
      examples: ['anthropic'],
    }),
    api_key: Type.String({
      minLength: 1,
      maxLength: 2048,
      pattern: patterns.token,
      writeOnly: true,
      description: "The provider's secret. Kept encrypted, never given back.",
      examples: ['<PROVIDER_API_KEY>'],
    }),
  },
  { additionalProperties: false },
);

/** Most LLM keys of an agent. */
export const maxLlmKeys = 20;

/** Most entries of an agent's `models`. */
export const maxModels = 100;

const modelsMeaning =
  "Models that the agent may call beside its own and its members', each as `<provider>/<model_name>` whatever its runtime. Null: any of the providers that it has a key for; under a spend limit, any with a known price.";

export const modelNames = (more = '') =>
  Type.Array(Type.String({ minLength: 1, maxLength: 200, pattern: patterns.text, examples: ['openai/gpt-5-mini'] }), {
    maxItems: maxModels,
    description: modelsMeaning + more,
    examples: [['openai/gpt-5-mini']],
  });

export const peerIds = (more = '') =>
  Type.Array(Type.String({ maxLength: 12, pattern: patterns.peer, examples: ['k7d2m9q4x1ab'] }), {
    maxItems: maxPeers,
    description: `Ids of agents of the account that it may ask with its tool \`ask_agent\`; \`*\` for all.${more}`,
    examples: [['k7d2m9q4x1ab'], ['*']],
  });

export const browserMeaning = `Whether it has a browser in its machine. It needs room: ${runtimeKinds
  .map((kind) => `${kind} from the size \`${abilitiesOf(kind).browserFrom}\` on`)
  .join(', ')}.`;

/** Fields that a create and a PATCH take alike. */
export const ownTexts = {
  instructions: Type.Optional(Instructions),
};

export const CreateAgent = Type.Object(
  {
    name: Type.String({
      minLength: 1,
      maxLength: 100,
      pattern: patterns.text,
      description: 'Display name, 1 to 100 characters after trimming.',
      examples: ['Support bot'],
    }),
    model: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        pattern: patterns.text,
        description: `\`<provider>/<model_name>\` for ${kindsWith.prefixedModels}; bare \`<model_name>\` for ${kindsWith.bareModels}, whose provider is that of its keys. Without it the deployment chooses.`,
        examples: ['anthropic/claude-sonnet-5'],
      }),
    ),
    description: Type.Optional(
      nullable(Type.String({ maxLength: 2000, pattern: patterns.text, description: 'Free text; only a label.' })),
    ),
    llm_keys: Type.Optional(
      Type.Array(LlmKeyInput, { maxItems: maxLlmKeys, description: 'Keys of LLM providers, one per provider.' }),
    ),
    check_keys: Type.Optional(
      Type.Boolean({
        description:
          'True: each key is checked first, and one that its provider does not accept is a 400. One that cannot be checked is taken.',
        default: false,
      }),
    ),
    runtime_kind: Type.Optional(RuntimeKindInput),
    from: Type.Optional(
      Type.Object(
        {
          snapshot: { ...SnapshotIdInput, description: 'A snapshot of the account.' },
          include: Type.Optional(
            Type.Array(oneOf(['browser']), {
              maxItems: 1,
              description: 'The profile of its `browser` comes along, with its logins; by default it is removed.',
            }),
          ),
        },
        {
          additionalProperties: false,
          description:
            'Begins from a snapshot instead of the template: the machine, with its files and conversations, is that of the snapshot, and every setting is that of this request. `runtime_kind` is that of the snapshot, and `size` is not smaller; both are taken from it where they are left out.',
        },
      ),
    ),
    size: Type.Optional(oneOf(sizeNames, { description: 'Machine size.', default: 'medium' })),
    machine_size: Type.Optional(oneOf(sizeNames, { description: 'Another name for `size`.' })),
    lifecycle: Type.Optional(
      Type.Partial(Lifecycle, {
        additionalProperties: false,
        description: 'Fields that are left out keep their defaults.',
      }),
    ),
    labels: Type.Optional(Labels),
    metadata: Type.Optional(Metadata),
    channels: Type.Optional(ChannelsInput),
    spend_limit: Type.Optional(nullable(SpendLimitInput)),
    egress: Type.Optional(nullable(EgressInput)),
    env: Type.Optional(nullable(VariablesInput)),
    packages: Type.Optional(nullable(PackagesInput)),
    confirmations: Type.Optional(nullable(ConfirmationRulesInput)),
    models: Type.Optional(nullable(modelNames())),
    peers: Type.Optional(nullable(peerIds(' None by default.'))),
    snapshots: Type.Optional(nullable(SnapshotPlanInput)),
    ...ownTexts,
    dashboard: Type.Optional(Type.Boolean({ description: `For ${kindsWith.dashboard} alone.`, default: false })),
    browser: Type.Optional(Type.Boolean({ description: browserMeaning, default: false })),
  },
  {
    title: 'CreateAgent',
    additionalProperties: false,
    examples: [
      {
        name: 'Support bot',
        model: 'anthropic/claude-sonnet-5',
        llm_keys: [{ provider: 'anthropic', api_key: '<PROVIDER_API_KEY>' }],
      },
      {
        name: 'Release notes',
        model: 'anthropic/claude-sonnet-5',
        models: ['anthropic/claude-haiku-5'],
        egress: { mode: 'allowlist', allow: ['*.github.com', 'pypi.org'] },
      },
    ],
  },
);
export type CreateAgent = Static<typeof CreateAgent>;

export const AgentParams = Type.Object({
  id: Type.String({ pattern: patterns.agentId, description: "The agent's id.", examples: ['k7d2m9q4x1ab'] }),
});

export const ListAgentsQuery = Type.Object(
  {
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'Agents per page.' })),
    cursor: pageCursor(),
    status: Type.Optional(oneOf(agentStatuses, { description: 'Only agents in this status.' })),
    runtime_kind: Type.Optional(RuntimeKindInput),
    name: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 100,
        pattern: patterns.text,
        description: 'Only agents whose name contains this, in any case.',
      }),
    ),
    label: Type.Optional(
      Type.Unsafe<Record<string, string>>({
        ...Labels,
        description: 'Only agents with these labels, all of them: `label[team]=support&label[env]=prod`.',
        examples: [{ team: 'support' }],
      }),
    ),
    has_label: Type.Optional({
      ...LabelKey,
      description: 'Only agents that have a label of this key, whatever its value.',
    }),
    metadata: Type.Optional(
      Type.Unsafe<Record<string, string>>({
        ...Metadata,
        description: 'Only agents with these pairs: `metadata[team]=support`.',
      }),
    ),
    order: Type.Optional(
      oneOf(['asc', 'desc'], { default: 'desc', description: 'By time of creation; newest first by default.' }),
    ),
  },
  { additionalProperties: false },
);

export const GetAgentQuery = withRules(
  Type.Object(
    {
      wait_for: Type.Optional(
        oneOf(['running', 'paused', 'stopped'], {
          description: 'Answer once the agent is in this status or in `error`, or `timeout` has passed.',
        }),
      ),
      timeout: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 300, default: 30, description: 'Seconds; only with `wait_for`.' }),
      ),
    },
    { additionalProperties: false },
  ),
  goesWith('timeout', 'wait_for'),
);

export const NoQuery = Type.Object({}, { additionalProperties: false });

export const WaitQuery = Type.Object(
  {
    wait: Type.Optional(
      flag('`false`: answer 202 at once, with what is so then. Wins over the header Prefer where both are sent.'),
    ),
  },
  { additionalProperties: false },
);
export type WaitQuery = Static<typeof WaitQuery>;

export const PreferHeaders = Type.Object({
  prefer: Type.Optional(Type.String({ description: '`respond-async`: do not wait.', examples: ['respond-async'] })),
});

export const ChatQuery = Type.Object(
  { wake: Type.Optional(flag('`true`: a stopped agent is started first. A paused one is resumed in any case.')) },
  { additionalProperties: false },
);

export type ChatQuery = Static<typeof ChatQuery>;

export const CreateAgentQuery = Type.Object(
  { ...WaitQuery.properties, ...VerifyQuery.properties },
  { additionalProperties: false },
);

/** The body of a request whose path says everything. */
export const NoBody = Type.Object(
  {},
  { additionalProperties: false, description: 'Nothing, or an empty object.', examples: [{}] },
);
