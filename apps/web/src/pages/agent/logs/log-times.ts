/** Times of log lines in the viewer's zone. */
const clock = new Intl.DateTimeFormat('en-GB', {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
});
const day = new Intl.DateTimeFormat('en-GB', { day: '2-digit', month: 'short' });

export const clockTime = (at: Date): string => clock.format(at);
export const shortDate = (at: Date): string => day.format(at);

/** Returns the time as a field of the kind `datetime-local` has it. */
export function fieldTime(at: Date): string {
  const local = new Date(at.getTime() - at.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 19);
}
