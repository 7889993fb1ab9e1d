/** Stands in for Discord: its REST API, its gateway and its files, in their own protocol, for any number of bots at once. */
export { DiscordStub, startDiscordStub } from './stub.ts';
export type { DiscordFault, DiscordWriting } from './stub.ts';
export { intents } from './gateway.ts';
export type { DiscordGateway } from './gateway.ts';
export { DiscordBot } from './server.ts';
export type { DiscordAttachment, DiscordChannel, DiscordMessage } from './server.ts';
