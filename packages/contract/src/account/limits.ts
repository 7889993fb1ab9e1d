import { Type } from 'typebox';
import { SpendLimit } from './spend.ts';
import { Timestamp, nullable } from '../text.ts';

const rate = (description: string) =>
  Type.Object(
    { per_minute: Type.Integer({ minimum: 1, description: 'Also the most at once after a pause.' }) },
    { additionalProperties: false, description },
  );

const spendWindow = (period: string) =>
  Type.Object(
    {
      limit_usd: nullable(Type.String({ description: 'US dollars; null: no limit.', examples: ['20'] })),
      spent_usd: Type.String({
        description: 'Calls that have ended and whose model has a known price.',
        examples: ['3.2'],
      }),
      resets_at: Timestamp,
    },
    { additionalProperties: false, description: `Model calls of all agents of the account, this ${period} (UTC).` },
  );

/** The spending of an account's agents and its limit. */
export const spendStanding = {
  daily: spendWindow('day'),
  monthly: spendWindow('month'),
  action: nullable(SpendLimit.properties.action),
};

export const Limits = Type.Object(
  {
    object: Type.Literal('limits'),
    quotas: Type.Object(
      {
        agents: Type.Object(
          { limit: Type.Integer(), used: Type.Integer() },
          { additionalProperties: false, description: 'Agents of the account.' },
        ),
        running_agents: Type.Object(
          { limit: Type.Integer(), used: Type.Integer() },
          {
            additionalProperties: false,
            description: 'Those that run or are on their way to it; paused ones do not count.',
          },
        ),
      },
      { additionalProperties: false },
    ),
    snapshots: Type.Object(
      {
        per_agent: Type.Integer({ description: 'Most snapshots of an agent.' }),
        limit_gb: Type.Integer({ description: 'Most gibibytes that all of them hold.' }),
        used_gb: Type.Number({ minimum: 0 }),
      },
      { additionalProperties: false },
    ),
    rates: Type.Object(
      {
        reads: rate('GET and HEAD, per key.'),
        writes: rate('Other methods, per key.'),
        creates: Type.Object(
          { per_minute: Type.Integer({ minimum: 1 }), at_once: Type.Integer({ minimum: 1 }) },
          { additionalProperties: false, description: '`POST /v1/agents`, per key.' },
        ),
        calls: rate('Chat, exec and files, per key.'),
        without_key: rate('Requests without a valid key, per address.'),
      },
      { additionalProperties: false },
    ),
    spend: nullable(
      Type.Object(
        {
          ...spendStanding,
          agent_default: nullable({
            ...SpendLimit,
            description: 'The limit of an agent whose own `spend_limit` is null.',
          }),
        },
        { additionalProperties: false, description: 'Null for a key without the scope `usage:read`.' },
      ),
    ),
    sizes: Type.Object(
      { json_body_bytes: Type.Integer(), file_bytes: Type.Integer() },
      { additionalProperties: false, description: 'Largest request bodies.' },
    ),
  },
  { title: 'Limits', additionalProperties: false },
);
