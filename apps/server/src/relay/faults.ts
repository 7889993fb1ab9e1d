/**
 * Uncaught errors in a relay process, such as those of a platform's library that one message causes.
 *
 * A rejected promise in the context of one connection ends only that connection: nothing shared was left halfway. An
 * exception has cut through everything on the stack. So the process gives its channels back and ends; the connection that it
 * came from is kept apart, and the next process opens the others at once. An error that belongs to no connection ends the
 * process, too.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Relay } from '@lodge/channels/relay';
import type { Log } from '@lodge/ports';

const writtenWithinMs = 2_000;
const maxFrames = 6;

/** `end` gives the channels back and ends the process. */
export function watchFaults(relay: Pick<Relay, 'fault'>, log: Log, end: () => void): void {
  let faults = 0;
  const tell = (error: unknown, isOfOne: boolean): void => {
    faults += 1;
    log.error({ ...traitsOf(error), faults, one_connection: isOfOne }, 'an error in a relay was not handled');
  };
  process.on('unhandledRejection', (error) => {
    const written = relay.fault();
    tell(error, written !== null);
    if (written === null) end();
  });
  process.on('uncaughtException', (error) => {
    const written = relay.fault();
    tell(error, written !== null);
    void Promise.race([written, sleep(writtenWithinMs)]).finally(end);
  });
}

/**
 * The parts that name an error. Its message, and every other field of a library's, may have a token or a stranger's text in
 * it.
 */
export function traitsOf(error: unknown): { readonly kind: string; readonly at: readonly string[] } {
  if (!(error instanceof Error)) return { kind: typeof error, at: [] };
  try {
    const { name } = error.constructor;
    return { kind: /^\w{1,60}$/.test(name) ? name : 'Error', at: framesOf(error) };
  } catch {
    return { kind: 'Error', at: [] };
  }
}

/** Files and lines of the stack, behind the message. */
function framesOf({ stack, message }: Error): readonly string[] {
  if (typeof stack !== 'string' || typeof message !== 'string') return [];
  const from = stack.indexOf(message) + message.length;
  return stack
    .slice(from, from + 8_000)
    .split('\n')
    .map((line) => line.slice(line.lastIndexOf('/') + 1).replace(')', ''))
    .filter((place) => /^[\w.-]{1,60}\.[cm]?[jt]s:\d{1,7}:\d{1,7}$/.test(place))
    .slice(0, maxFrames);
}
