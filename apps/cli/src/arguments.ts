/** Arguments that many commands have. */
export const agentArgument = ['<agent>', 'id, name, or beginning of an id'] as const;
