import type { Log } from '@lodge/ports';

/** Undo steps, run in reverse order. */
export type Closing = (() => Promise<unknown> | void)[];

/** Ends everything that was begun, whatever fails on the way. */
export async function closeAll(closing: Closing, log: Log): Promise<void> {
  for (const end of closing.splice(0).toReversed()) {
    try {
      await end();
    } catch (error) {
      log.error({ err: error }, 'a part did not end cleanly');
    }
  }
}
