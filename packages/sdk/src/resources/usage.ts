import type { Pages } from '../http/page.ts';
import { agentPath } from '../http/url.ts';
import type { CallOptions } from '../options.ts';
import type { LlmCallDetail, LlmCallList, Usage as UsageReply } from '../types.ts';
import { Resource } from './resource.ts';
import type { QueryOf } from './resource.ts';

/** A report, or its text with `format: 'csv'`. */
type Report<Query> = Query extends { readonly format: 'csv' } ? string : UsageReply;

export class Usage extends Resource {
  /** Tells how much all agents used, and its cost. */
  get<const Query extends QueryOf<'getUsage'>>(query?: Query, options?: CallOptions): Promise<Report<Query>> {
    return this.getJson('/usage', options, query);
  }

  agent<const Query extends QueryOf<'getAgentUsage'>>(
    agentId: string,
    query?: Query,
    options?: CallOptions,
  ): Promise<Report<Query>> {
    return this.getJson(agentPath(agentId, 'usage'), options, query);
  }
}

/** Calls of models that an agent made. */
export class LlmCalls extends Resource {
  list(agentId: string, query?: QueryOf<'listLlmCalls'>, options?: CallOptions): Pages<LlmCallList> {
    return this.pagesOf(agentPath(agentId, 'llm-calls'), options, query);
  }

  get(agentId: string, callId: string, options?: CallOptions): Promise<LlmCallDetail> {
    return this.getJson(agentPath(agentId, 'llm-calls', callId), options);
  }
}
