import { llmKeyContext } from '@lodge/ports';
import type { StoredResource } from '../database/stored-resource.ts';

export const agentTables = {
  topics: ['agent_changed'],
  sealed: [{ table: 'llm_keys', column: 'sealed', key: ['agent_id', 'provider'], context: llmKeyContext }],
  columns: {
    'agents.confirmations': 'JsonColumn<domain.Confirmations>',
    'agents.desired': "'running' | 'deleted'",
    'agents.egress': 'JsonColumn<domain.EgressRules>',
    'agents.env': 'JsonColumn<domain.Variables>',
    'agents.forked_from': 'JsonColumn<domain.ForkedFrom>',
    'agents.host_access': 'JsonColumn<domain.HostAccess>',
    'agents.keep_awake': "domain.Lifecycle['keepAwake']",
    'agents.labels': 'JsonColumn<Record<string, string>>',
    'agents.members': 'JsonColumn<readonly MemberJson[]>',
    'agents.metadata': 'JsonColumn<Record<string, string>>',
    'agents.operation_cause': 'domain.OperationCause',
    'agents.operation_kind': 'domain.OperationKind',
    'agents.runtime_kind': 'domain.RuntimeKind',
    'agents.packages': 'JsonColumn<domain.Packages>',
    'agents.size': 'domain.SizeName',
    'agents.snapshots': 'JsonColumn<domain.SnapshotPlan>',
    'agents.spend_limit': 'JsonColumn<domain.SpendLimit>',
    'agents.status': 'domain.AgentStatus',
    'agents.status_reason_code': 'domain.StatusReasonCode',
  },
} as const satisfies StoredResource;
