import {
  authorityContext,
  connectionClientSecretContext,
  connectionGrantContext,
  connectionHeaderContext,
  connectionSecretContext,
} from '@lodge/ports';
import type { StoredResource } from '../database/stored-resource.ts';

export const connectionTables = {
  topics: [],
  sealed: [
    {
      table: 'connection_headers',
      column: 'sealed',
      key: ['agent_id', 'connection', 'name'],
      context: connectionHeaderContext,
    },
    {
      table: 'connection_secrets',
      column: 'sealed',
      key: ['agent_id', 'connection', 'name'],
      context: connectionSecretContext,
    },
    { table: 'authorities', column: 'sealed', key: ['name'], context: authorityContext },
    {
      table: 'connection_oauth',
      column: 'client_secret_sealed',
      key: ['agent_id', 'connection'],
      context: connectionClientSecretContext,
    },
    {
      table: 'connection_oauth',
      column: 'grant_sealed',
      key: ['agent_id', 'connection'],
      context: connectionGrantContext,
    },
  ],
  columns: {
    'connection_oauth.client_auth': 'domain.ClientAuthMethod',
    'connection_oauth.status': 'domain.ConnectionOAuthStatus',
    'connections.allow': 'JsonColumn<readonly domain.ConnectionAllow[]>',
    'connection_secrets.headers': 'JsonColumn<readonly string[]>',
    'connections.hosts': 'JsonColumn<readonly string[]>',
    'connections.kind': 'domain.ConnectionKind',
    'connections.tools': 'JsonColumn<readonly string[]>',
  },
} as const satisfies StoredResource;
