/**
 * Knows the connection in whose context something happens. Everything that a connection begins (a timer, a socket, a
 * promise) inherits the context. So an uncaught error is known to be of this connection. A socket that several share has the
 * one that opened it.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { ChannelConnection, ProgressMessages } from '@lodge/ports';

/** A channel whose connection can be ended because of its own error. */
interface Owner {
  fault(): Promise<void>;
}

const doings = new AsyncLocalStorage<Owner>();

/** Null outside of every connection. It also works where the process reports an uncaught error. */
export const inDoingsOf = (): Owner | null => doings.getStore() ?? null;

/** Runs the code that opens a connection in its context; returns the connection, whose methods run in the context, too. */
export function asDoingsOf(owner: Owner, open: () => ChannelConnection): ChannelConnection {
  const run = <T>(work: () => T): T => doings.run(owner, work);
  const connection = run(open);
  const { progress } = connection;
  return {
    send: (...given) => run(() => connection.send(...given)),
    typing: (...given) => run(() => connection.typing(...given)),
    open: (...given) => run(() => connection.open(...given)),
    close: () => run(() => connection.close()),
    ...(connection.closeChoices && {
      closeChoices: (...given: Parameters<NonNullable<ChannelConnection['closeChoices']>>) =>
        run(() => connection.closeChoices!(...given)),
    }),
    ...(progress && {
      progress: {
        post: (...given: Parameters<ProgressMessages['post']>) => run(() => progress.post(...given)),
        edit: (...given: Parameters<ProgressMessages['edit']>) => run(() => progress.edit(...given)),
        remove: (...given: Parameters<ProgressMessages['remove']>) => run(() => progress.remove(...given)),
      },
    }),
    ...(connection.pairByNumber && { pairByNumber: (number: string) => run(() => connection.pairByNumber!(number)) }),
  };
}
