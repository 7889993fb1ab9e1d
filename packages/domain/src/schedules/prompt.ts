/** How a run reaches the agent: a line of the host that says which schedule it is and for when, and the prompt, which may be the agent's own. */
import { hostMessage } from '../host-lines/host-line.ts';

export interface ScheduledPrompt {
  readonly name: string;
  readonly prompt: string;
  readonly scheduledFor: Date;
  readonly timeZone: string;
  /** 1 for the first. */
  readonly attempt: number;
  /** An attempt before this one began and did not come to its end. */
  readonly mayHaveActed: boolean;
  /** Somebody asked for this run. */
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

/** Such as `2027-03-28 09:00 Europe/Berlin`. */
function localTime(at: Date, timeZone: string): string {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' });
  return `${format.format(at)} ${timeZone}`;
}
