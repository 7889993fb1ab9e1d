export * from './errors.ts';
export { Lodge } from './lodge.ts';
export type { RequestOptions } from './lodge.ts';
export type {
  CallOptions,
  FollowOptions,
  IfMatch,
  LodgeOptions,
  WebSocketClass,
  WebSocketLike,
  WithQuery,
} from './options.ts';
export type { FileContent } from './http/content.ts';
export type { AgentExport } from './http/export.ts';
export type { Page, Pages } from './http/page.ts';
export type { FileBody, OnProgress } from './http/upload.ts';
export type { ImportOptions } from './resources/agents.ts';
export type { AskOptions, ChatOptions, ResponseEvent } from './resources/chat.ts';
export type { ChannelName } from './resources/channels.ts';
export type { ListFiles, ReadOptions, WriteOptions } from './resources/machine/files.ts';
export type { TerminalEnd, TerminalSession as Terminal } from './resources/machine/terminal-session.ts';
export type { TunnelEnd, TunnelSession as Tunnel } from './resources/machine/tunnel-session.ts';
export type { OpenTerminal } from './resources/machine/terminal.ts';
export { verifyWebhook } from './verify.ts';
export type { GivenHeaders, VerifyOptions } from './verify.ts';
export type * from './types.ts';
