// The entry point of the customer application in the browser.

import '../ui/css/styles.css';
import '../ui/css/public.css';
import { startApp } from '../ui/app.tsx';
import { PAGES } from './pages.tsx';

startApp(PAGES);
