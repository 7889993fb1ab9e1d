import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import type { CreateAgent } from '@lodge/sdk';
import { change, hasCode, lodge } from '../../api.ts';
import type { ChannelName } from '../agent/channels/channel-names.ts';
import { putAgentRow } from '../agents/queries.ts';
import { queries } from '../../queries.ts';
import { refusedField } from './draft.ts';
import type { FieldName, Problems } from './draft.ts';

/** Sends the request once, also when the reply was lost and it is sent again. */
export function useCreate(made: () => void, pair: ChannelName | undefined) {
  const ref = useRef<HTMLFormElement>(null);
  const client = useQueryClient();
  const navigate = useNavigate();
  const [problems, setProblems] = useState<Problems>({});
  const [refusals, setRefusals] = useState(0);
  const [failure, setFailure] = useState<unknown>();
  const refuse = (found: Problems): void => {
    setProblems(found);
    setRefusals((count) => count + 1);
  };
  const attempt = useRef({ body: '', key: '' });
  const mutation = useMutation({
    mutationFn: (body: CreateAgent) => {
      const text = JSON.stringify(body);
      if (attempt.current.body !== text) attempt.current = { body: text, key: crypto.randomUUID() };
      return change(() => lodge.agents.create(body, { wait: false, idempotencyKey: attempt.current.key }));
    },
    onSuccess: async (agent) => {
      putAgentRow(client, agent.id, agent);
      void client.invalidateQueries({ queryKey: ['agents'] });
      void client.invalidateQueries(queries.limits);
      made();
      await navigate({
        to: '/agents/new',
        search: { made: agent.id, ...(pair !== undefined && { pair }) },
        replace: true,
      });
    },
    onError: (error) => {
      const refused = hasCode(error, 'invalid_request') ? refusedField(error.message) : null;
      if (refused === null) setFailure(error);
      else refuse({ [refused[0]]: refused[1] });
    },
  });
  // The first wrong field is shown and has the focus, once for each try.
  useEffect(() => {
    if (refusals > 0) ref.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [refusals]);
  return {
    ref,
    problems,
    failure,
    isPending: mutation.isPending,
    clear: (names: readonly FieldName[]): void => {
      if (names.some((name) => name in problems))
        setProblems(
          Object.fromEntries(Object.entries(problems).filter(([name]) => !names.includes(name as FieldName))),
        );
    },
    submit: (found: Problems, body: CreateAgent): void => {
      if (mutation.isPending) return;
      setFailure(undefined);
      if (Object.keys(found).length > 0) return refuse(found);
      setProblems({});
      mutation.mutate(body);
    },
  };
}
