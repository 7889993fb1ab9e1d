import { Type } from 'typebox';
import type { Static } from 'typebox';
import {
  defaultSnapshotPlan,
  maxKeptSnapshots,
  maxSnapshotDays,
  maxSnapshotTurns,
  sizeNames,
  snapshotKinds,
  snapshotLoads,
  snapshotStatuses,
} from '@lodge/domain';
import { Timestamp, listOf, nullable, oneOf, pageCursor, patterns } from '../text.ts';

const name = nullable(
  Type.String({ minLength: 1, maxLength: 100, pattern: patterns.text, examples: ['before the move'] }),
);
const note = nullable(Type.String({ maxLength: 2000, pattern: patterns.text, description: 'Free text.' }));
const pinned = Type.Boolean({ description: 'True: it outlives its agent.' });
const expiresAt = nullable(
  Type.String({
    format: 'date-time',
    pattern: patterns.timestamp,
    description: 'It is deleted then; null: it is kept.',
    examples: ['2099-01-31T12:00:00.000Z'],
  }),
);

export const Snapshot = Type.Object(
  {
    object: Type.Literal('snapshot'),
    id: Type.String({ pattern: patterns.agentId, examples: ['s4k8m2q9t1ab'] }),
    agent_id: Type.String({ pattern: patterns.agentId, examples: ['k7d2m9q4x1ab'] }),
    name,
    note,
    kind: oneOf(snapshotKinds, {
      description:
        '`named`: somebody asked for it. `auto`: the agent has a plan for `snapshots`. The others were made by what they name.',
    }),
    status: oneOf(snapshotStatuses, {
      description: '`failed`: it was not saved, and `error` says why. `damaged`: it is shown and never loaded.',
    }),
    memory: Type.Boolean({ description: 'Whether it has the memory of the machine, and not its disk alone.' }),
    loads: oneOf(snapshotLoads, {
      description: 'How an agent starts from it: `disk` where it has no memory, or this host cannot take it.',
    }),
    runtime: Type.Object(
      { name: Type.String({ examples: ['openclaw'] }), version: nullable(Type.String({ examples: ['2026.9.6'] })) },
      { additionalProperties: false, description: 'The software in the machine, in the version that it had there.' },
    ),
    size: oneOf(sizeNames),
    bytes: Type.Integer({ minimum: 0, description: 'Bytes of memory.' }),
    disk_bytes: Type.Integer({ minimum: 0, description: 'Bytes of its disk, which later snapshots may share.' }),
    pinned,
    expires_at: expiresAt,
    error: nullable(Type.String({ description: 'The reason why it is not ready.' })),
    created_at: Timestamp,
  },
  { title: 'Snapshot', additionalProperties: false },
);
export type Snapshot = Static<typeof Snapshot>;

export const SnapshotList = listOf(Snapshot, 'SnapshotList');

export const DeletedSnapshot = Type.Object(
  { object: Type.Literal('snapshot.deleted'), id: Type.String(), deleted: Type.Literal(true) },
  { title: 'DeletedSnapshot', additionalProperties: false },
);

export const CreateSnapshot = Type.Object(
  {
    name: Type.Optional(name),
    note: Type.Optional(note),
    memory: Type.Optional(
      Type.Boolean({
        description: 'False: the disk alone is saved, and no turn is waited for.',
        default: true,
      }),
    ),
    pinned: Type.Optional(pinned),
    expires_at: Type.Optional(expiresAt),
  },
  { title: 'CreateSnapshot', additionalProperties: false, examples: [{ name: 'before the move' }] },
);
export type CreateSnapshot = Static<typeof CreateSnapshot>;

export const UpdateSnapshot = Type.Object(
  {
    name: Type.Optional(name),
    note: Type.Optional(note),
    pinned: Type.Optional(pinned),
    expires_at: Type.Optional(expiresAt),
  },
  {
    title: 'UpdateSnapshot',
    additionalProperties: false,
    description: 'Only what is given changes.',
    examples: [{ name: 'the good one', pinned: true }],
  },
);
export type UpdateSnapshot = Static<typeof UpdateSnapshot>;

export const SnapshotParams = Type.Object({
  snapshot: Type.String({ description: "The snapshot's id.", examples: ['s4k8m2q9t1ab'] }),
});

const listing = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'Snapshots per page.' })),
  cursor: pageCursor(),
  kind: Type.Optional(oneOf(snapshotKinds, { description: 'Only those of this kind.' })),
};

export const ListAgentSnapshotsQuery = Type.Object(listing, { additionalProperties: false });

export const ListSnapshotsQuery = Type.Object(
  {
    ...listing,
    agent_id: Type.Optional(
      Type.String({ pattern: patterns.agentId, description: 'Only those of this agent, which may be deleted.' }),
    ),
  },
  { additionalProperties: false },
);

const planFields = {
  every_turns: nullable(
    Type.Integer({
      minimum: 1,
      maximum: maxSnapshotTurns,
      description: 'One after so many turns, once the agent is quiet; null: turns do not count.',
    }),
  ),
  every: nullable(
    Type.String({
      maxLength: 7,
      pattern: patterns.text,
      description:
        'One when this time has passed since the last snapshot, once the agent is quiet and had a turn: minutes, hours or days, from `5m` to `366d`; null: time does not count.',
      examples: ['1h'],
    }),
  ),
  keep: Type.Integer({
    minimum: 1,
    maximum: maxKeptSnapshots,
    description: 'Most automatic ones; the oldest go first.',
  }),
  keep_days: Type.Integer({
    minimum: 1,
    maximum: maxSnapshotDays,
    description: 'Days after which an automatic one is deleted.',
  }),
};

const planMeaning = 'When snapshots of the agent are made by themselves, and how long those are kept.';

/** The agent's field. */
export const SnapshotPlan = Type.Object(planFields, {
  title: 'SnapshotPlan',
  additionalProperties: false,
  description: planMeaning,
  examples: [defaultSnapshotPlan],
});

export const SnapshotPlanInput = Type.Partial(Type.Object(planFields), {
  additionalProperties: false,
  description: `${planMeaning} Replaces the plan as a whole: what is left out has its default, and by default none are made.`,
  examples: [{ every_turns: 1, keep: 20 }],
});
export type SnapshotPlanInput = Static<typeof SnapshotPlanInput>;
