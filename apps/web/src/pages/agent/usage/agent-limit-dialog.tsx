import { useQueryClient } from '@tanstack/react-query';
import type { Agent } from '@lodge/sdk';
import { change, lodge, read } from '../../../api.ts';
import { toast } from '../../../components/toasts/toasts.tsx';
import { LimitForm } from '../../usage/limit-dialog.tsx';
import { agentQuery } from '../queries.ts';

/** Sets the limit of one agent. */
export function AgentLimitDialog({
  agent: { id, name, spend_limit: limit },
  onClose,
}: {
  agent: Agent;
  onClose: () => void;
}) {
  const queryClient = useQueryClient();
  return (
    <LimitForm
      title={`Limits of ${name}`}
      description="For the model calls of this agent, in days and months of UTC. A change holds from the next call on."
      none="An empty amount is no limit. With both empty, the usual limit of agents of this Lodge holds, if there is one."
      id={id}
      limit={limit}
      now={async () => (await read(lodge.agents.get(id))).spend_limit}
      send={(chosen) => change(() => lodge.agents.update(id, { spend_limit: chosen }))}
      onDone={() => {
        onClose();
        toast(`The limits of ${name} are changed.`);
        void queryClient.invalidateQueries({ queryKey: agentQuery(id).queryKey });
      }}
      onClose={onClose}
    />
  );
}
