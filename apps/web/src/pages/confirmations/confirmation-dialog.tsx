import { useQuery } from '@tanstack/react-query';
import type { Confirmation } from '@lodge/sdk';
import { Badge, Code } from '../../components/badge.tsx';
import { Dialog } from '../../components/dialogs/dialog.tsx';
import { FactList } from '../../components/shown/facts.tsx';
import type { Fact } from '../../components/shown/facts.tsx';
import { Loaded } from '../../components/states.tsx';
import { Time } from '../../components/time.tsx';
import { visibleName, visibleText } from '../../components/words/visible-text.ts';
import { useMay } from '../../session.ts';
import { AgentLink } from './agent-link.tsx';
import { DecisionForm } from './decision-form.tsx';
import { confirmationQuery } from './queries.ts';
import { statusWords } from './words.ts';

/**
 * One confirmation: the exact request, and the decision about it. It is decided here and not in the list, where another one may
 * come to stand below the pointer at the moment of a click.
 */
export function ConfirmationDialog({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const query = useQuery(confirmationQuery(id));
  return (
    <Dialog title="Confirmation" onClose={onClose}>
      <Loaded query={query}>{(confirmation) => <Whole confirmation={confirmation} onClose={onClose} />}</Loaded>
    </Dialog>
  );
}

interface WholeProps {
  readonly confirmation: Confirmation;
  readonly onClose: () => void;
}

function Whole({ confirmation, onClose }: WholeProps) {
  const mayDecide = useMay('agents:write');
  const { action, quoted, cut, kind, status, options } = confirmation;
  return (
    <div className="flex min-w-0 flex-col gap-5">
      <p className="font-medium wrap-anywhere">
        <bdi>{visibleName(action)}</bdi>
      </p>
      {quoted !== null && (
        <div className="flex flex-col gap-1.5">
          <p className="text-[0.8125rem] text-muted">
            {kind === 'question' ? 'The agent asks, in its own words:' : 'The request, in the agent’s words:'}
          </p>
          <pre
            tabIndex={0}
            role="group"
            aria-label="The agent’s words"
            className="max-h-72 overflow-auto rounded-control border border-line bg-sunken p-3 font-mono text-xs leading-5 whitespace-pre-wrap wrap-anywhere text-ink"
          >
            <bdi>{visibleText(quoted)}</bdi>
          </pre>
          {cut && <p className="text-[0.8125rem] text-warn">Only the beginning is shown. All of it would be sent.</p>}
        </div>
      )}
      {kind === 'question' && status !== 'pending' && options.length > 0 && (
        <p className="text-muted wrap-anywhere">Its options: {options.map(visibleName).join(' · ')}</p>
      )}
      <FactList facts={factsOf(confirmation)} />
      {status === 'pending' && mayDecide && <DecisionForm confirmation={confirmation} onClose={onClose} />}
    </div>
  );
}

function factsOf(confirmation: Confirmation): readonly Fact[] {
  const { agent_id: agentId, digest, kind, reason, answer, remember, status } = confirmation;
  const { label, tone, meaning } = statusWords(confirmation);
  return [
    ['Agent', <AgentLink key="agent" id={agentId} />],
    [
      'State',
      <span key="state" className="flex flex-wrap items-center gap-2">
        <Badge tone={tone}>{label}</Badge>
        {meaning !== undefined && <span className="text-muted">{meaning}</span>}
      </span>,
    ],
    ['Asked', <Time key="asked" value={confirmation.requested_at} />],
    ['Open until', status === 'pending' ? <Time key="until" value={confirmation.expires_at} /> : null],
    ['Decided', confirmation.decided_at === null ? null : <Time key="decided" value={confirmation.decided_at} />],
    ['Answer', answer === null ? null : visibleText(answer)],
    ['Reason', reason === null ? null : visibleText(reason)],
    ['Remembered', remember === 'none' ? null : remember === 'rule' ? 'As a rule' : 'In its conversation'],
    ['Digest', kind === 'question' ? null : <Code key="digest">{digest}</Code>],
  ];
}
