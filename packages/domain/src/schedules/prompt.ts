/**
 * Renders a run for the agent: a host line that names the schedule and the time, then the prompt, which may be the agent's
 * own.
 */
import { hostMessage } from '../host-lines/host-line.ts';

export interface ScheduledPrompt {
  readonly name: string;
  readonly prompt: string;
  readonly scheduledFor: Date;
  readonly timeZone: string;
  /** Number of the attempt, from 1. */
  readonly attempt: number;
  /** Whether an earlier attempt began and did not finish. */
  readonly mayHaveActed: boolean;
  /** Whether a person requested this run. */
  readonly isManual: boolean;
}

export function scheduledPromptOf(run: ScheduledPrompt): string {
  const facts = {
    schedule: run.name,
    scheduled_for: run.scheduledFor.toISOString(),
    local_time: localTime(run.scheduledFor, run.timeZone),
    ...(run.isManual && { started_by_hand: true }),
    ...(run.attempt > 1 && { attempt: run.attempt }),
    ...(run.mayHaveActed && { earlier_attempt_may_have_acted: true }),
  };
  return hostMessage('scheduled run', facts, run.prompt);
}

/** Formats a time, such as `2027-03-28 09:00 Europe/Berlin`. */
function localTime(at: Date, timeZone: string): string {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' });
  return `${format.format(at)} ${timeZone}`;
}
