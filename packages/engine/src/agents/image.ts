import { looksForSkills } from '@lodge/domain';
import type { AgentRow } from '@lodge/store/agents';
import type { AgentsDeps } from './deps.ts';

/**
 * Whether the agent's machine looks for skills of its owner. One that is yet to be made will. So may one of another host, whose
 * templates are not here.
 */
export async function imageHasSkills(
  { templates }: Pick<AgentsDeps, 'templates'>,
  { runtimeKind, templateId }: AgentRow,
): Promise<boolean> {
  const template = templateId === null ? null : await templates.get(templateId);
  return template === null || looksForSkills(runtimeKind, template.variant);
}
