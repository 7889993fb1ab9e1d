/** Types of requests about snapshots, which the agents' use-cases take too. */
import type { ActorNote } from '@lodge/ports';

/** Bounds on the snapshots of an account. */
export interface SnapshotBounds {
  /** GiB of all its snapshots. */
  readonly accountGib: number;
}

export interface SnapshotPlace {
  readonly accountId: string;
  readonly agentId: string;
  readonly snapshotId: string;
}

export interface RestoreInput {
  /** The id of a snapshot of the agent, or `before_last_turn`. */
  readonly snapshot: string;
  readonly savePresent: boolean;
  /** Whether the snapshot's memory is loaded, or its disk is booted. */
  readonly memory: boolean;
}

export interface RestoreParts {
  readonly bounds: SnapshotBounds;
  readonly note?: ActorNote | undefined;
}
