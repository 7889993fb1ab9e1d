import type { Pages } from '../http/page.ts';
import { agentPath } from '../http/url.ts';
import type { CallOptions } from '../options.ts';
import type { ChannelMessage, ChannelMessageList } from '../types.ts';
import { Resource } from './resource.ts';
import type { QueryOf } from './resource.ts';

/** Messages that came on an agent's channels. */
export class Messages extends Resource {
  list(agentId: string, query?: QueryOf<'listMessages'>, options?: CallOptions): Pages<ChannelMessageList> {
    return this.pagesOf(agentPath(agentId, 'messages'), options, query);
  }

  /** Has a message that failed answered again. */
  retry(
    agentId: string,
    message: string,
    body?: Record<string, never>,
    options?: CallOptions,
  ): Promise<ChannelMessage> {
    return this.postJson(agentPath(agentId, 'messages', message, 'retry'), body, options);
  }
}
