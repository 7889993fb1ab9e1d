import { Type } from 'typebox';
import type { Static } from 'typebox';
import { forkIncludes, forkedKeys, maxForks } from '@lodge/domain';
import { Agent } from './agent.ts';
import { CreateAgent } from './agent-requests.ts';
import { UpdateAgent } from './agent-update.ts';
import { SnapshotIdInput } from './snapshot-id.ts';
import { oneOf, patterns } from '../text.ts';

const { name: _name, llm_keys: _keys, spend_limit, confirmations, ...settings } = UpdateAgent.properties;

/** The body of a fork: what is about the forks together, and fields of each that differ from the parent's. */
export const ForkAgent = Type.Object(
  {
    name: Type.Optional({
      ...CreateAgent.properties.name,
      description:
        'Display name; of several forks each has its number behind it. By default `<name of the parent> fork <number>`.',
    }),
    count: Type.Optional(
      Type.Integer({ minimum: 1, maximum: maxForks, default: 1, description: 'How many forks are made.' }),
    ),
    snapshot: Type.Optional({
      ...SnapshotIdInput,
      description: 'A snapshot of the agent to begin from. Without it the agent is saved as it is.',
    }),
    include: Type.Optional(
      Type.Array(oneOf(forkIncludes), {
        maxItems: forkIncludes.length,
        description:
          'Further parts of the parent that the forks get: `schedules`, all disabled, with answers to no channel; `connections`, without what OAuth granted; published `ports`; the profile of its `browser`, with its logins. Nothing of these by default.',
        examples: [['connections']],
      }),
    ),
    llm_keys: Type.Optional(
      oneOf(forkedKeys, { default: 'copy', description: "Whether they get the parent's keys of LLM providers." }),
    ),
    ...settings,
    spend_limit: Type.Optional({
      ...spend_limit,
      description:
        "The limit of each fork; null: that of the deployment. By default the parent's own, divided by `count` + 1 and rounded down to the cent.",
    }),
    confirmations: Type.Optional({
      ...confirmations,
      description: "Replaces the parent's rules as a whole, with no `deliver`, as forks have no channels. Null: none.",
    }),
  },
  { title: 'ForkAgent', additionalProperties: false, examples: [{ count: 2 }] },
);
export type ForkAgent = Static<typeof ForkAgent>;

export const Fork = Type.Object(
  {
    object: Type.Literal('fork'),
    snapshot: Type.String({
      pattern: patterns.agentId,
      description: 'Id of the snapshot that they begin from. One that was made for them is kept for a week.',
      examples: ['s4k8m2q9t1ab'],
    }),
    data: Type.Array(Agent, { description: 'The forks. Each stands alone: one may be in `error` beside others.' }),
  },
  { title: 'Fork', additionalProperties: false },
);
export type Fork = Static<typeof Fork>;
