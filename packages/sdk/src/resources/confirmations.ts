import type { Pages } from '../http/page.ts';
import { pathOf } from '../http/url.ts';
import type { CallOptions } from '../options.ts';
import type { Confirmation, ConfirmationList, DecideConfirmation } from '../types.ts';
import { Resource } from './resource.ts';
import type { QueryOf } from './resource.ts';

const path = (...more: readonly string[]): string => pathOf('confirmations', ...more);

/** Calls of agents that wait for a yes, and their questions to the owner. */
export class Confirmations extends Resource {
  /** Newest first. */
  list(query?: QueryOf<'listConfirmations'>, options?: CallOptions): Pages<ConfirmationList> {
    return this.pagesOf(path(), options, query);
  }

  get(confirmation: string, options?: CallOptions): Promise<Confirmation> {
    return this.getJson(path(confirmation), options);
  }

  /** Allows or denies a call, or answers a question, once. */
  decide(confirmation: string, body: DecideConfirmation, options?: CallOptions): Promise<Confirmation> {
    return this.postJson(path(confirmation), body, options);
  }
}
