import { Refusal } from '../refusal.ts';
import { everyMsOf } from '../schedules/timing.ts';
import { defaultSnapshotPlan } from './snapshot.ts';
import type { SnapshotPlan } from './snapshot.ts';

const minEveryMs = 5 * 60_000;

/** Completes a plan. Refuses with the field's name. */
export function checkedSnapshotPlan(given: Partial<SnapshotPlan>): SnapshotPlan {
  const plan = { ...defaultSnapshotPlan, ...given };
  const everyMs = plan.every === null ? minEveryMs : everyMsOf(plan.every);
  if (everyMs !== null && everyMs >= minEveryMs) return plan;
  throw new Refusal('invalid_request', 'snapshots.every must be minutes, hours or days from 5m to 366d, such as 1h.');
}
