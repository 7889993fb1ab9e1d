/** Stands in for Slack: its Web API and its Socket Mode, in their own protocol, for any number of apps at once. */
export { SlackStub, startSlackStub } from './stub.ts';
export type { SlackFault, SlackWriting } from './stub.ts';
export type { SlackEvents } from './events.ts';
export { manifestScopes, SlackApp } from './workspace.ts';
export type { SlackFile, SlackMessage } from './workspace.ts';
