/** Words and bounds of snapshots: machines at rest that an account keeps. */

/**
 * The reason why a snapshot exists. `named`: somebody asked for it. `auto`: the agent's own plan. `fork`, `before_restore` and
 * `before_upgrade`: that operation made it.
 */
export const snapshotKinds = ['named', 'auto', 'fork', 'before_restore', 'before_upgrade'] as const;
export type SnapshotKind = (typeof snapshotKinds)[number];

/** Only a `ready` one can be started from. */
export const snapshotStatuses = ['saving', 'ready', 'failed', 'damaged'] as const;
export type SnapshotStatus = (typeof snapshotStatuses)[number];

/** How a start from it begins on its host. */
export const snapshotLoads = ['memory', 'disk'] as const;
export type SnapshotLoads = (typeof snapshotLoads)[number];

/** The reason why a save failed, where a waiting client is told by a code of its own. */
export type SnapshotErrorCode = 'agent_busy' | 'insufficient_capacity';

/** Most snapshots of an agent, whatever made them. Failed ones do not count. */
export const maxSnapshots = 50;

/** Most GiB that the snapshots of an account hold, if the deployment sets nothing else. */
export const defaultSnapshotGib = 100;

/** Failed rows are told of for this long. */
export const failedSnapshotDays = 1;

/** When snapshots are made by themselves, and how long those are kept. Its names are those of the API. */
export interface SnapshotPlan {
  /** A snapshot after so many turns, 1 to 100; null: never by turns. */
  readonly every_turns: number | null;
  /** A snapshot when so much time has passed since the last one, such as `1h`; null: never by time. */
  readonly every: string | null;
  /** Most automatic ones that are kept. */
  readonly keep: number;
  /** Days after which an automatic one is deleted. */
  readonly keep_days: number;
}

/** Bounds of a plan. */
export const maxSnapshotTurns = 100;
export const maxKeptSnapshots = 50;
export const maxSnapshotDays = 366;

export const defaultSnapshotPlan: SnapshotPlan = { every_turns: null, every: null, keep: 10, keep_days: 30 };

/** Origin of an agent that was made from a snapshot. Its names are those of the API. */
export interface ForkedFrom {
  /** The agent that the snapshot was made of. */
  readonly agent_id: string;
  readonly snapshot_id: string;
  readonly at: string;
  /** Set where the profile of the other agent's browser comes along; without it the profile is removed before the first turn. */
  readonly browser?: true;
}
