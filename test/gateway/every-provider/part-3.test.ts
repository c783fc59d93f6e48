import { walkProviders } from './walk.js';

walkProviders(2, 4);
