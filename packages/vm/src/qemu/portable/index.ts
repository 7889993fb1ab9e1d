export { agentFolders, withAgentFiles } from './agent-files.ts';
export type { AgentFiles } from './agent-files.ts';
export { portableTemplate } from './template-files.ts';
export type { PortableTemplate } from './template-files.ts';
