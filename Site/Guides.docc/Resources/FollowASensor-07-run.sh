HARALD_CONTROLLER=tcp:127.0.0.1:9102 swift run heart
