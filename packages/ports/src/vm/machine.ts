/** A machine's wanted resources. */
export interface Machine {
  readonly vcpus: number;
  readonly memoryMib: number;
  readonly diskGib: number;
}

/** JSON that only the runtime which wrote it understands. Holds the template's gateway token: never log it. */
export type RuntimeFacts = Readonly<Record<string, unknown>>;
