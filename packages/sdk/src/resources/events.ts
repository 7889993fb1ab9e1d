import { follow } from '../http/follow.ts';
import type { Pages } from '../http/page.ts';
import type { CallOptions, FollowOptions } from '../options.ts';
import type { AuditEventList, EventList, LodgeEvent } from '../types.ts';
import { Resource } from './resource.ts';
import type { QueryOf } from './resource.ts';

export class Events extends Resource {
  /** Lists the events of the account, newest first. */
  list(query?: QueryOf<'listEvents'>, options?: CallOptions): Pages<EventList> {
    return this.pagesOf('/events', options, query);
  }

  /**
   * Events as they come, after the newest `limit` (or all from `since` on when that is given alone). It goes on where it was
   * after a cut: nothing is lost, and nothing comes twice.
   */
  follow(
    query: Omit<QueryOf<'listEvents'>, 'follow' | 'cursor' | 'until' | 'direction'> = {},
    options: FollowOptions = {},
  ): AsyncGenerator<LodgeEvent, void> {
    return follow(this.http, { path: '/events', query, options });
  }
}

export class AuditEvents extends Resource {
  /** Lists the changes by people and keys, newest first. */
  list(query?: QueryOf<'listAuditEvents'>, options?: CallOptions): Pages<AuditEventList> {
    return this.pagesOf('/audit-events', options, query);
  }
}
