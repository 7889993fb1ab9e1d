/** Which request a log line belongs to, wherever in the process it is written. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Log } from '@lodge/ports';

/** Fields on every line of one request. */
export interface RequestFields {
  readonly request_id: string;
  agent_id?: string;
}

/** Null once the request is over: what it has set going and what outlives it (a database connection, say) is its no more. */
interface Current {
  fields: RequestFields | null;
}

const current = new AsyncLocalStorage<Current>();

/** A running request. Its work is run by `run`, as often as its thread of control is lost. */
export class RequestScope {
  readonly fields: RequestFields;
  readonly #current: Current;
  constructor(requestId: string) {
    this.fields = { request_id: requestId };
    this.#current = { fields: this.fields };
  }

  run(work: () => void): void {
    current.run(this.#current, work);
  }

  end(): void {
    this.#current.fields = null;
  }
}

/** The same log, each line with the fields of the request that it is written for. */
export function withRequestFields(log: Log): Log {
  const add = (fields: object): object => ({ ...current.getStore()?.fields, ...fields });
  return {
    debug: (fields, message) => log.debug(add(fields), message),
    info: (fields, message) => log.info(add(fields), message),
    warn: (fields, message) => log.warn(add(fields), message),
    error: (fields, message) => log.error(add(fields), message),
  };
}
