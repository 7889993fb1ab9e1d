import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useSyncExternalStore } from 'react';
import { useAccount } from '../../../session.ts';
import { chatOf, isSignedOut } from './chat-store.ts';
import type { ChatState, ChatStore } from './chat-store.ts';

/** The conversations of the signed-in person with an agent, and the turns of one. */
export function useChat(
  agentId: string,
  open: string | undefined,
): { readonly store: ChatStore; readonly state: ChatState } {
  const account = useAccount();
  const queryClient = useQueryClient();
  const store = chatOf(account.id, agentId);
  const state = useSyncExternalStore(store.subscribe, store.snapshot);
  useEffect(() => {
    store.onEnded = (error) => {
      void queryClient.invalidateQueries({ queryKey: ['agent', agentId] });
      // The session's own query leads to the sign-in page.
      if (isSignedOut(error)) void queryClient.invalidateQueries({ queryKey: ['session'] });
    };
  }, [store, queryClient, agentId]);
  useEffect(() => {
    if (open !== undefined) store.open(open);
  }, [store, open]);
  return { store, state };
}
