import { Type } from 'typebox';
import type { Static, TProperties } from 'typebox';
import { AgentParams } from '../agents/agent-requests.ts';
import { unless, withRules } from '../rules.ts';
import { Timestamp, listOf, nullable, oneOf, pageCursor, patterns } from '../text.ts';

/** Bounds on one reply. */
export const maxUsageBuckets = 1500;
export const maxUsageRecords = 10_000;

const strict = <T extends TProperties>(
  properties: T,
  options: { readonly title?: string; readonly description?: string } = {},
) => Type.Object(properties, { additionalProperties: false, ...options });
const count = (description?: string) => Type.Integer({ minimum: 0, ...(description && { description }) });
const seconds = (description?: string) => Type.Number({ minimum: 0, ...(description && { description }) });
const usd = (description: string, example: string) => Type.String({ description, examples: [example] });

const figures = {
  compute: strict({
    running_seconds: seconds(),
    paused_seconds: seconds(),
    stopped_seconds: seconds(),
    vcpu_seconds: seconds('vCPUs of the machine, times the seconds it ran.'),
    cpu_seconds: seconds('CPU time that was really used.'),
    memory_gb_seconds: seconds('Of machines that run or are paused.'),
    storage_gb_seconds: seconds('Disk of the machine, in every status, and of snapshots.'),
  }),
  llm: strict({
    requests: count('Model calls that went out.'),
    input_tokens: count('Without cached ones.'),
    output_tokens: count('With reasoning.'),
    cache_read_tokens: count(),
    cache_write_tokens: count(),
    unpriced_requests: count('Calls that used tokens at no known price: they are in no cost.'),
    estimated_requests: count('Calls whose tokens are estimated, for nobody told them.'),
  }),
  network: strict({ egress_bytes: count('Sent to public addresses.') }),
  cost: strict(
    {
      compute: usd('The cost of machines, by the prices of this deployment.', '0.42'),
      llm: usd('The cost of model calls, by the list prices of their providers.', '1.305726'),
      storage: usd('The cost of disks and snapshots, by the prices of this deployment.', '0'),
      total: usd('All of it.', '1.725726'),
    },
    { description: 'US dollars, as decimal text.' },
  ),
};

export const UsageBucket = strict(
  {
    starting_at: Timestamp,
    ending_at: Timestamp,
    group: nullable(
      Type.String({
        description:
          "An agent's id, `<provider>/<model>` or a provider, as `group_by` says. Null without it, and for what no model or provider can be told for: machines and network.",
        examples: ['anthropic/claude-sonnet-5'],
      }),
    ),
    ...figures,
  },
  { title: 'UsageBucket' },
);
export type UsageBucket = Static<typeof UsageBucket>;

export const Usage = strict(
  {
    object: Type.Literal('usage'),
    starting_at: Timestamp,
    ending_at: Timestamp,
    bucket_width: oneOf(['1m', '1h', '1d', 'all']),
    group_by: nullable(oneOf(['agent', 'model', 'provider'])),
    time_zone: Type.String({ examples: ['UTC'] }),
    data: Type.Array(UsageBucket, {
      description:
        'In order of time, then of group. Without `group_by` every bucket; with it those in which anything was used.',
    }),
    totals: strict(figures, { title: 'UsageTotals', description: 'Of the whole range.' }),
  },
  { title: 'Usage' },
);
export type Usage = Static<typeof Usage>;

const time = (description: string) =>
  Type.String({ format: 'date-time', maxLength: 40, pattern: patterns.timestamp, description });

export const UsageQuery = withRules(
  strict({
    starting_at: Type.Optional(
      time(
        'Widened to the beginning of its bucket. By default an hour (`1m`), a day (`1h`) or 30 days before `ending_at`.',
      ),
    ),
    ending_at: Type.Optional(time('Widened to the end of its bucket. Now by default.')),
    bucket_width: Type.Optional(
      oneOf(['1m', '1h', '1d', 'all'], {
        default: '1d',
        description: `\`all\`: the whole range, in whole days, as one bucket. Up to ${maxUsageBuckets} buckets, and ${maxUsageRecords} with all groups.`,
      }),
    ),
    group_by: Type.Optional(
      oneOf(['agent', 'model', 'provider'], { description: 'One record for each, in each bucket.' }),
    ),
    time_zone: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        pattern: patterns.token,
        default: 'UTC',
        description: 'Whose days are meant with `1d` and `all`: a name of the IANA time zone database.',
        examples: ['Europe/Berlin'],
      }),
    ),
    format: Type.Optional(
      oneOf(['json', 'csv'], {
        default: 'json',
        description: '`csv`: the records as `text/csv`, with a line of names first.',
      }),
    ),
  }),
  {
    description: 'must be UTC with buckets of less than a day',
    ...unless(
      { properties: { bucket_width: { enum: ['1d', 'all'] } } },
      { properties: { time_zone: { const: 'UTC' } } },
    ),
  },
);
export type UsageQuery = Static<typeof UsageQuery>;

const tokens = (description?: string) => nullable(Type.Integer({ minimum: 0, ...(description && { description }) }));

const callFields = {
  object: Type.Literal('llm_call'),
  id: Type.String({ examples: ['0b8e9c52-6f0f-4b0e-9f35-6f8f6a1f2a11'] }),
  started_at: Timestamp,
  provider: Type.String({ examples: ['anthropic'] }),
  model: Type.String({ examples: ['claude-sonnet-5'] }),
  api: nullable(
    oneOf(['openai-completions', 'openai-responses', 'anthropic-messages', 'google-generative-ai'], {
      description: 'Which API of the provider. Null in calls from before it was kept.',
    }),
  ),
  outcome: oneOf(['ok', 'provider_error', 'cancelled', 'unreachable', 'refused', 'interrupted'], {
    description:
      '`refused`: it did not go out. `cancelled`: the agent gave it up. `interrupted`: the server ended in its midst, and the figures are those expected before it.',
  }),
  status: nullable(Type.Integer({ description: "HTTP status of the provider's answer; null when none came." })),
  duration_ms: nullable(Type.Integer({ minimum: 0 })),
  time_to_first_byte_ms: nullable(Type.Integer({ minimum: 0 })),
  input_tokens: tokens('Without cached ones.'),
  output_tokens: tokens('With reasoning.'),
  cache_read_tokens: tokens(),
  cache_write_tokens: tokens(),
  reasoning_tokens: tokens('Part of the output, where the provider tells.'),
  estimated: Type.Boolean({ description: 'Nobody told all tokens; they are estimated.' }),
  cost: nullable(
    Type.String({
      description: 'US dollars, as decimal text. Null: the model has no known price.',
      examples: ['0.004275'],
    }),
  ),
  price_version: nullable(Type.String({ description: 'Which price list it is by.' })),
};

export const LlmCall = strict(callFields, { title: 'LlmCall' });
export type LlmCall = Static<typeof LlmCall>;

export const LlmCallDetail = strict(
  {
    ...callFields,
    content: nullable(
      strict(
        {
          request: nullable(
            Type.String({ description: 'The body that the agent sent, without headers. Null when none was read.' }),
          ),
          response: nullable(
            Type.String({
              description:
                'The body that the provider answered; of a stream its events, as they came. Null when nothing whole came.',
            }),
          ),
          truncated: Type.Boolean({ description: 'One of them was longer than the 256 KiB that are kept of each.' }),
        },
        {
          description:
            'What was said. Null unless the account recorded its model calls then; deleted after some days (a setting of the deployment), and with the agent.',
        },
      ),
    ),
  },
  { title: 'LlmCallDetail' },
);
export type LlmCallDetail = Static<typeof LlmCallDetail>;

export const LlmCallParams = Type.Object({
  ...AgentParams.properties,
  call_id: Type.String({ description: "The call's id.", examples: ['0b8e9c52-6f0f-4b0e-9f35-6f8f6a1f2a11'] }),
});

export const LlmCallList = listOf(LlmCall, 'LlmCallList');

export const ListLlmCallsQuery = strict({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: 100, description: 'Calls per page.' })),
  cursor: pageCursor(),
});
