/** Events of schedules. An event contains the text of an answer only when the schedule's owner requests it. */
import type { DeliverTarget } from '../answer-delivery.ts';
import { kind, told } from '../events/kind.ts';
import { duration } from '../events/words.ts';

type Of = { readonly schedule_id: string; readonly name: string };
type Run = Of & { readonly run_id: string; readonly scheduled_for: string };
type Ended = Run & {
  readonly duration_ms: number;
  readonly attempts: number;
  /** Decimal USD; null when no model call had a known price. */
  readonly cost: string | null;
};

const costWords = (cost: string | null): string => (cost === null ? '' : `, $${cost}`);

export const scheduleEvents = {
  'schedule.created': told<Of>('A schedule was made.'),
  'schedule.updated': told<Of>('A schedule was changed, paused or resumed.'),
  'schedule.deleted': told<Of>('A schedule was deleted.'),
  'schedule.run_asked': told<Of & { readonly run_id: string }>('Somebody asked for a run of a schedule now.'),
  'schedule.ran': kind<Ended & { readonly deliver: DeliverTarget; readonly answer?: string }>({
    level: 'info',
    public:
      'A run of a schedule came to its end with an answer. With `deliver` `webhook` the event has the answer, up to 16 KiB.',
    sentence: ({ name, duration_ms, cost }) => `Schedule "${name}" ran (${duration(duration_ms)}${costWords(cost)}).`,
  }),
  'schedule.failed': kind<Ended & { readonly reason: string }>({
    level: 'warn',
    public: 'A run of a schedule failed for good; `reason` says why.',
    sentence: ({ name, reason }) => `Schedule "${name}" failed: ${reason}`,
  }),
  'schedule.missed': kind<Run & { readonly status: 'missed' | 'skipped'; readonly reason: string }>({
    level: ({ status }) => (status === 'missed' ? 'warn' : 'info'),
    public: 'A time of a schedule passed without a run of its own (`missed`), or was left out on purpose (`skipped`).',
    sentence: ({ name, status, reason }) =>
      `Schedule "${name}" ${status === 'missed' ? 'missed' : 'skipped'} a time: ${reason}`,
  }),
} as const;
