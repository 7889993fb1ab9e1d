import type { Pages } from '../http/page.ts';
import { agentPath } from '../http/url.ts';
import type { CallOptions } from '../options.ts';
import type { AgentSkill, AgentSkillList, AgentSkillRemoved, PutAgentSkill } from '../types.ts';
import { Resource } from './resource.ts';

/** Skills of the library that an agent uses. */
export class AgentSkills extends Resource {
  list(agentId: string, options?: CallOptions): Pages<AgentSkillList> {
    return this.pagesOf(agentPath(agentId, 'skills'), options);
  }

  get(agentId: string, name: string, options?: CallOptions): Promise<AgentSkill> {
    return this.getJson(agentPath(agentId, 'skills', name), options);
  }

  /** Gives the agent a skill, or gives it otherwise. Its next turn has it. */
  put(agentId: string, name: string, body: PutAgentSkill = {}, options?: CallOptions): Promise<AgentSkill> {
    return this.sendJson('PUT', agentPath(agentId, 'skills', name), options, { body });
  }

  delete(agentId: string, name: string, options?: CallOptions): Promise<AgentSkillRemoved> {
    return this.sendJson('DELETE', agentPath(agentId, 'skills', name), options);
  }
}
