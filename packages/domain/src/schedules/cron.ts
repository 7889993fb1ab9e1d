/**
 * Times of cron expressions in a time zone. Croner calculates them, with the zones that this process knows.
 *
 * Clocks that jump are treated as by Vixie's cron. A time in a gap (clocks go ahead) comes at the end of the gap. A repeated
 * time (clocks go back) comes only the first time. This holds for expressions that name minutes and hours. Expressions with
 * a wildcard or a step in these run by elapsed time: through both passes of a repeated hour, and not within a gap.
 */
import { Cron } from 'croner';

const maxCronChars = 100;
const maxZoneChars = 64;

const cronOf = (cron: string, timeZone: string): Cron =>
  new Cron(cron, { timezone: timeZone, mode: '5-part', fixedTimeRule: 'no-wildcard', paused: true });

/** Returns the first time after `after`, or null when there is none. */
export const cronAfter = (cron: string, timeZone: string, after: Date): Date | null =>
  cronOf(cron, timeZone).nextRun(after);

/**
 * Whether a name is one of the time zone database, such as `Europe/Berlin` or `UTC`. An offset is none, because it has no
 * daylight saving time.
 */
export function isZoneName(name: string): boolean {
  if (name.length > maxZoneChars || !/^[A-Za-z]/.test(name)) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

/** Returns the fault of an expression in a few words, or null. */
export function cronTrouble(cron: string, now: Date): string | null {
  const fields = cron.trim().split(/\s+/);
  if (cron.length > maxCronChars) return `must have at most ${maxCronChars} characters`;
  if (fields.length !== 5) return 'must have five fields: minute, hour, day of month, month, day of week';
  try {
    return cronAfter(cron, 'UTC', now) === null ? 'never comes' : null;
  } catch {
    const example = '"0 9 * * 1-5" (weekdays at nine)';
    return `is no cron expression; a good one is ${example}`;
  }
}
