import type { Pages } from '../http/page.ts';
import { agentPath } from '../http/url.ts';
import type { CallOptions } from '../options.ts';
import type { AgentMember, AgentMemberList, CreateMember, DeletedMember, UpdateMember } from '../types.ts';
import { Resource } from './resource.ts';

/** Further agents in the machine of one. */
export class Members extends Resource {
  list(agentId: string, options?: CallOptions): Pages<AgentMemberList> {
    return this.pagesOf(agentPath(agentId, 'members'), options);
  }

  create(agentId: string, body: CreateMember, options?: CallOptions): Promise<AgentMember> {
    return this.postJson(agentPath(agentId, 'members'), body, options);
  }

  get(agentId: string, name: string, options?: CallOptions): Promise<AgentMember> {
    return this.getJson(agentPath(agentId, 'members', name), options);
  }

  update(agentId: string, name: string, body: UpdateMember, options?: CallOptions): Promise<AgentMember> {
    return this.sendJson('PATCH', agentPath(agentId, 'members', name), options, { body });
  }

  delete(agentId: string, name: string, options?: CallOptions): Promise<DeletedMember> {
    return this.sendJson('DELETE', agentPath(agentId, 'members', name), options);
  }
}
