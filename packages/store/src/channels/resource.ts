import {
  channelCredentialContext,
  channelPairingContext,
  channelVaultContext,
  oauthVerifierContext,
} from '@lodge/ports';
import type { StoredResource } from '../database/stored-resource.ts';

export const channelTables = {
  topics: ['channel_changed', 'channel_work', 'mailbox_noticed'],
  sealed: [
    {
      table: 'channel_credentials',
      column: 'sealed',
      key: ['agent_id', 'channel', 'name'],
      context: channelCredentialContext,
    },
    {
      table: 'channel_vault',
      column: 'sealed',
      key: ['agent_id', 'channel', 'type', 'id'],
      context: channelVaultContext,
    },
    {
      table: 'channel_oauth_sessions',
      column: 'verifier_sealed',
      key: ['agent_id', 'id'],
      context: oauthVerifierContext,
    },
    { table: 'channels', column: 'pairing_sealed', key: ['agent_id', 'channel'], context: channelPairingContext },
  ],
  columns: {
    'channel_answers.choices': 'JsonColumn<readonly domain.Choice[]>',
    'channel_answers.reply_to': 'JsonColumn<domain.Json>',
    'channel_answers.state': "'queued' | 'sent' | 'failed' | 'unknown'",
    'channel_conversations.channel': 'domain.ChannelName',
    'channel_conversations.kind': 'domain.ConversationKind',
    'channel_conversations.reply_to': 'JsonColumn<domain.Json>',
    'channel_credentials.channel': 'domain.ChannelName',
    'channel_files.channel': 'domain.ChannelName',
    'channel_files.kind': "ports.WaitingFile['kind']",
    'channel_messages.channel': 'domain.ChannelName',
    'channel_messages.reply_to': 'JsonColumn<domain.Json>',
    'channel_messages.state': 'domain.MessageState',
    'channel_parts.channel': 'domain.ChannelName',
    'channel_parts.kind': "'markdown' | 'text' | 'file' | 'edit'",
    'channel_parts.state': "'waiting' | 'sending' | 'sent' | 'failed' | 'unknown' | 'dropped'",
    'channel_seen.channel': 'domain.ChannelName',
    'channel_senders.channel': 'domain.ChannelName',
    'channel_senders.state': "'pending' | 'approved' | 'denied'",
    'channel_vault.channel': 'domain.ChannelName',
    'channels.access': 'JsonColumn<domain.ChannelAccess>',
    'channels.channel': 'domain.ChannelName',
    'channels.cursor': 'JsonColumn<domain.Json>',
    'channels.identity': 'JsonColumn<domain.ChannelIdentity>',
    'channels.status': "Exclude<domain.ChannelStatus, 'not_configured'>",
    'channels.status_code': 'domain.ChannelReasonCode',
  },
} as const satisfies StoredResource;
