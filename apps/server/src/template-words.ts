/** Words for a template that agents are made from before it is fully warm. */
export const servesEarly = 'serves agents, and is warmed up further';
