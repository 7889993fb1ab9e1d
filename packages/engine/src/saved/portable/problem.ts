import { NamedError } from '@lodge/domain';

/** The file is no export that can be taken. The message is public: a clause about the file, without a full stop. */
export class ImportProblem extends NamedError {}
