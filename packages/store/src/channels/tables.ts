import type { SnakeCased } from '../database/snake-cased.ts';
import type {
  ChannelAnswers,
  ChannelConversations,
  ChannelCredentials,
  ChannelFiles,
  ChannelMessages,
  ChannelParts,
  ChannelSeen,
  ChannelSenders,
  ChannelVault,
  Channels,
} from '../database/tables.ts';

/** Tables of messaging channels, for statements that name columns as the database does. */
export interface ChannelTables {
  channels: SnakeCased<Channels>;
  channel_credentials: SnakeCased<ChannelCredentials>;
  channel_vault: SnakeCased<ChannelVault>;
  channel_senders: SnakeCased<ChannelSenders>;
  channel_conversations: SnakeCased<ChannelConversations>;
  channel_answers: SnakeCased<ChannelAnswers>;
  channel_parts: SnakeCased<ChannelParts>;
  channel_messages: SnakeCased<ChannelMessages>;
  channel_seen: SnakeCased<ChannelSeen>;
  channel_files: SnakeCased<ChannelFiles>;
}

export type ChannelsTable = ChannelTables['channels'];
