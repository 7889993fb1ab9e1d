import type { ApiKeyVerifier, Log } from '@lodge/ports';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { onReplyOver } from '../pipeline/client-gone.ts';
import { presentedKey } from './api-key.ts';
import type { Sessions } from './session.ts';

/** A revoked key or a session that has ended is refused everywhere within a second. */
const lookEveryMs = 500;

interface Watch {
  readonly ended: AbortController;
  readonly looking: NodeJS.Timeout;
  watchers: number;
}

/** Says of a connection that its client may keep open whether the key or session that opened it is still valid. */
export class Endings {
  private readonly verifier: ApiKeyVerifier;
  private readonly sessions: Sessions;
  private readonly log: Log;
  /** Watches by key or token: everything that one of them has opened shares a look. */
  private readonly watches = new Map<string, Watch>();

  constructor(given: { readonly verifier: ApiKeyVerifier; readonly sessions: Sessions; readonly log: Log }) {
    this.verifier = given.verifier;
    this.sessions = given.sessions;
    this.log = given.log;
  }

  /** Aborts when the key was revoked or has expired, or the session has ended. It stops looking at the reply's end. */
  of(request: FastifyRequest, reply: FastifyReply): AbortSignal {
    const key = presentedKey(request.headers);
    const secret = key ?? this.sessions.token(request.headers)!;
    const holds = async (): Promise<boolean> =>
      key === null ? this.sessions.holds(secret) : typeof (await this.verifier.verify(key)) === 'object';
    const watch = this.watches.get(secret) ?? this.begin(secret, holds);
    watch.watchers += 1;
    onReplyOver(reply, () => this.leave(secret, watch));
    return watch.ended.signal;
  }

  private begin(secret: string, holds: () => Promise<boolean>): Watch {
    const ended = new AbortController();
    const look = async (): Promise<void> => {
      try {
        if (!(await holds())) ended.abort();
      } catch (error) {
        this.log.info({ err: error }, 'whether an API key or session still holds is asked again');
      }
    };
    const watch = { ended, looking: setInterval(() => void look(), lookEveryMs), watchers: 0 };
    this.watches.set(secret, watch);
    return watch;
  }

  private leave(secret: string, watch: Watch): void {
    watch.watchers -= 1;
    if (watch.watchers > 0) return;
    clearInterval(watch.looking);
    this.watches.delete(secret);
  }
}
